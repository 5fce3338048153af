#!/usr/bin/env python3
"""Print the one version literal of the project, for meson.build."""

import ast
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "limbic" / "__init__.py"


def read_version(source: Path) -> str:
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__version__")], value=ast.Constant(value=str(v))):
                return v
    raise SystemExit(f"no __version__ literal in {source}")


if __name__ == "__main__":
    print(read_version(SOURCE))
