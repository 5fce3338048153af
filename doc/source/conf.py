"""Sphinx configuration; ``python3 tools/dev.py docs`` builds the site."""

import importlib
import inspect
import pkgutil

import limbic

project = "limbic"
author = "The limbic developers"
copyright = "2026, The limbic developers"
version = release = limbic.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
]
templates_path = ["_templates"]
exclude_patterns = []
root_doc = "index"

# A single-quoted name in a docstring links to what it names, and is plain emphasis otherwise.
default_role = "autolink"
nitpick_ignore_regex = [("py:obj", ".*")]

autosummary_generate = True


def _offered(name: str) -> dict[str, list[str]]:
    """Return what a module's page lists: its modules, and of `__all__` what has its home here.

    The home of a name is the public module that defines it, or the one above a private module;
    a package that only hands a name on does not document it a second time.
    """
    module = importlib.import_module(name)
    found: dict[str, list[str]] = {"functions": [], "classes": [], "exceptions": [], "modules": []}
    for item in getattr(module, "__all__", []):
        thing = getattr(module, item)
        if getattr(thing, "__module__", "").partition("._")[0] != name:
            continue
        if inspect.isclass(thing):
            found["exceptions" if issubclass(thing, Exception) else "classes"].append(item)
        elif inspect.isroutine(thing):
            found["functions"].append(item)
    for child in pkgutil.iter_modules(getattr(module, "__path__", [])):
        if not child.name.startswith("_"):
            found["modules"].append(child.name)
    return found


autosummary_context = {
    "offered": {
        name: _offered(name)
        for name in ["limbic"]
        + [found.name for found in pkgutil.walk_packages(limbic.__path__, "limbic.")]
        if "._" not in name
    }
}
autodoc_typehints = "none"  # numpydoc's Parameters sections say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = f"limbic {release}"
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_sourcelink = False
html_copy_source = False
