"""What holds for the package as a whole."""

import importlib
import inspect
import pkgutil
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
