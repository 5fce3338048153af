"""What holds for the package as a whole."""

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import subprocess
import sys
from importlib.metadata import files, version
from pathlib import Path

import pytest

import limbic

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "limbic"
# Written by the build, or by the tools that look at it.
NOT_SOURCE = {"__pycache__"}


def public_modules():
    found = ["limbic"]
    for module in pkgutil.walk_packages(limbic.__path__, "limbic."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            found.append(module.name)
    return found


def imported(name):
    """Import a module of ours, or skip the test if the extra it is about is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] == "limbic":
            raise
        pytest.skip(f"needs an extra that brings {error.name}")


def test_version_is_the_one_of_the_installed_distribution():
    assert limbic.__version__ == version("limbic-memory")


@pytest.mark.skipif(not SOURCE.is_dir(), reason="needs the source tree")
def test_everything_in_the_tree_is_installed():
    described = [
        str(path.relative_to(ROOT))
        for path in SOURCE.rglob("*")
        if path.suffix in {".py", ".pyi", ".pxd", ".typed", ".jsonl"}
        and not NOT_SOURCE & set(path.parts)
    ]
    missing = [
        file
        for file in described
        if f"'{Path(file).name}'" not in (ROOT / file).with_name("meson.build").read_text()
    ]
    assert described
    assert missing == [], "not in the meson.build beside it"


def test_the_installed_files_are_those_of_the_distribution():
    record = files("limbic-memory")
    if not any(str(file).startswith("limbic/") for file in record):
        pytest.skip("installed in place: the wheel is checked by tools/dev.py dist")
    names = {str(file) for file in record}
    assert {"limbic/py.typed", "limbic/data/conversation.jsonl"} <= names
    assert not [name for name in names if name.startswith(("tests/", "tools/", "benchmarks/"))]
    if SOURCE.is_dir():
        sources = {f"limbic/{path.relative_to(SOURCE)}" for path in SOURCE.rglob("*.py")}
        assert sources <= names


def test_importing_limbic_brings_no_extra_and_no_network():
    code = (
        "import sys, limbic; heavy = {'typer', 'rich', 'wordllama', 'tqdm', 'torch', 'httpx', "
        "'asyncio', 'urllib.request', 'matplotlib', 'pandas', 'sklearn', 'langchain_core', 'mcp'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize("name", public_modules())
def test_every_public_name_is_documented(name):
    module = imported(name)
    assert module.__doc__, f"{name} has no docstring"
    defines = any(
        (inspect.isclass(thing) or inspect.isroutine(thing)) and thing.__module__ == name
        for item, thing in vars(module).items()
        if not item.startswith("_")
    )
    assert hasattr(module, "__all__") or not defines, f"{name} has no __all__"
    offered = getattr(module, "__all__", [])
    bare = [
        item
        for item in offered
        if inspect.isclass(thing := getattr(module, item)) or inspect.isroutine(thing)
        if not inspect.getdoc(thing)
    ]
    assert bare == [], f"no docstring in {name}"


LAYERS = {
    # What a module at the left may import of limbic; anything not listed is free.
    "limbic.diversity": ("limbic.diversity",),
    "limbic.errors": (),
    "limbic.timestamps": (),
    "limbic.types": ("limbic.timestamps",),
    "limbic.text": ("limbic.types", "limbic.errors"),
    "limbic.scoring": ("limbic.text", "limbic.types", "limbic.timestamps", "limbic.errors"),
    "limbic.decay": ("limbic.types", "limbic.timestamps", "limbic.errors"),
    "limbic.stores": (
        "limbic.stores",
        "limbic.types",
        "limbic.timestamps",
        "limbic.errors",
        "limbic.filters",
    ),
    "limbic.embedders": (
        "limbic.embedders",
        "limbic.types",
        "limbic.timestamps",
        "limbic.errors",
    ),
}


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "limbic":
            yield from (f"limbic.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def within(name, package):
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_go_one_way(layer):
    spec = importlib.util.find_spec(layer)
    if spec is None:
        pytest.skip(f"{layer} is not there")
    origin = Path(spec.origin)
    paths = origin.parent.rglob("*.py") if origin.name == "__init__.py" else [origin]
    wrong = [
        f"{path.name} imports {name}"
        for path in paths
        for name in imports_of(path)
        if within(name, "limbic") and not any(within(name, allowed) for allowed in LAYERS[layer])
    ]
    assert wrong == []
