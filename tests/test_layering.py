"""Who may import whom, read from the source of every module, and what importing limbic costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import limbic

PACKAGE = Path(limbic.__file__).parent
FOUNDATION = {"types", "timestamps", "errors"}
DOMAIN = FOUNDATION | {"scoring", "text", "filters"}
ENGINE_PARTS = DOMAIN | {"retrieval", "extraction", "decay", "index", "ranking", "diversity"}

# For each part (first component below limbic), the parts it may import besides itself.
# A part that is not named here may import everything: the command line and its neighbours.
MAY_IMPORT = {
    "diversity": set(),
    "errors": set(),
    "timestamps": {"errors"},
    "types": FOUNDATION | {"filters"},
    "text": FOUNDATION,
    "filters": FOUNDATION,
    "scoring": DOMAIN,
    "decay": DOMAIN,
    "extraction": DOMAIN,
    "lexical": DOMAIN,
    "neighbours": set(),
    "index": DOMAIN | {"stores", "lexical", "neighbours"},
    "ranking": DOMAIN | {"index", "lexical"},
    "retrieval": DOMAIN | {"index", "ranking", "diversity"},
    "stores": FOUNDATION | {"filters"},
    "embedders": FOUNDATION | {"filters"},
    "engine": ENGINE_PARTS | {"stores", "embedders"},
}


def modules():
    return sorted(PACKAGE.rglob("*.py"))


def part_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path):
    """Dotted names below limbic that a module imports, wherever the statement stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("limbic"))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            if node.module == "limbic":
                yield from (f"limbic.{alias.name}" for alias in node.names)
            elif node.module and node.module.startswith("limbic."):
                yield node.module


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_follow_one_direction(path):
    part = part_of(path)
    if part not in MAY_IMPORT:
        return
    used = {name.split(".")[1] for name in imports(path) if "." in name}
    assert used <= MAY_IMPORT[part] | {part}


def test_the_rules_name_parts_that_exist():
    parts = {part_of(path) for path in modules()}
    assert {"diversity", "types", "errors", "stores", "embedders"} <= parts


def loaded_after(statement):
    """Top-level and limbic modules that a fresh interpreter holds after a statement."""
    code = f"import sys; {statement}; print(*sorted(sys.modules))"
    shown = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    return set(shown.split())


# Packages behind extras, and what would open a connection.
NOT_FOR_IMPORT = {
    "typer",
    "rich",
    "wordllama",
    "tqdm",
    "requests",
    "httpx",
    "urllib.request",
    "http.client",
    "pandas",
    "polars",
    "sklearn",
    "matplotlib",
    "torch",
    "sentence_transformers",
    "onnxruntime",
    "llama_cpp",
    "Stemmer",
    "json_repair",
}


@pytest.mark.parametrize("module", ["limbic", "limbic.diversity"])
def test_importing_is_light(module):
    assert not loaded_after(f"import {module}") & NOT_FOR_IMPORT


def test_diversity_stands_alone():
    loaded = loaded_after("import limbic.diversity")
    ours = {name for name in loaded if name.split(".")[0] == "limbic"}
    beside = {n for n in ours - {"limbic"} if not n.startswith("limbic.diversity")}
    # What `import limbic` itself brings is not diversity's doing.
    assert beside <= loaded_after("import limbic")
