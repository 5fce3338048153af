"""Sphinx configuration; ``python3 tools/dev.py docs`` builds the site."""

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
autosummary_ignore_module_all = False  # a module's __all__ is what it offers
autosummary_imported_members = False
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
