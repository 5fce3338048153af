#!/usr/bin/env python3
"""Everything a developer or a newcomer types, with the standard library alone.

    python3 tools/dev.py demo      install, then watch limbic remember a conversation
    python3 tools/dev.py test      install, then run the tests (arguments go to pytest)
    python3 tools/dev.py test-all  the same with every extra that pip can install in a minute
    python3 tools/dev.py lint      ruff, cython-lint, mypy
    python3 tools/dev.py docs      run every example, then build the site; warnings are errors
    python3 tools/dev.py bench     asv on this commit (arguments go to asv)
    python3 tools/dev.py dist      build sdist and wheel, install each elsewhere, test them

The first call makes ``.venv`` and installs limbic into it in place, so that edited Python is live
and edited Cython is rebuilt on the next import.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
STAMPS = VENV / "installed"

# What each verb needs beyond the package itself: names of extras in pyproject.toml.
DEMO_EXTRAS = ("cli", "local", "progress")
TEST_EXTRAS = ("test",)
LINT_EXTRAS = ("lint", "test", "cli")
DOC_EXTRAS = ("doc", "test", "cli", "local")
BENCH_EXTRAS = ("bench", "test")
# Extras that are no features, and features that are slow to install: a compiler run, a gigabyte.
NOT_IN_TEST_ALL = {"dev", "lint", "bench", "doc", "llama-cpp", "sentence-transformers"}


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    """Run a command with the environment's tools on its path; leave with its status if it fails."""
    shown = " ".join(str(part) for part in command)
    print(f"$ {shown}", flush=True)
    env = {**os.environ, "PATH": os.pathsep.join([str(BIN), os.environ.get("PATH", os.defpath)])}
    status = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, check=False
    ).returncode
    if status:
        raise SystemExit(status)


def extras_available() -> dict[str, list[str]]:
    import tomllib  # from 3.11 on: imported after the version check

    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]["optional-dependencies"]


def build_fingerprint() -> str:
    """Digest of what decides whether the in-place install has to be made again."""
    digest = hashlib.sha256(sys.version.encode())
    for path in [
        ROOT / "pyproject.toml",
        *sorted(ROOT.glob("limbic/**/meson.build")),
        ROOT / "meson.build",
    ]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def ensure_installed(extras: Sequence[str]) -> None:
    """Make ``.venv`` and install limbic in place with these extras, unless that is done already."""
    if sys.version_info < (3, 11):  # noqa: UP036 - the reader may hold an older one
        raise SystemExit(f"limbic needs Python 3.11 or newer, this is {sys.version.split()[0]}")
    if not PYTHON.exists():
        print(f"making {VENV}", flush=True)
        venv.create(VENV, with_pip=True, clear=VENV.exists())
    fingerprint = build_fingerprint()
    wanted = sorted({"dev", *extras})
    if all((STAMPS / f"{fingerprint}-{extra}").exists() for extra in wanted):
        return
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # The in-place build rebuilds on import, so its tools have to stay in the environment.
    run(*pip, *extras_available()["dev"])
    run(*pip, "--no-build-isolation", "--editable", f".[{','.join(wanted)}]")
    STAMPS.mkdir(exist_ok=True)
    for extra in wanted:
        (STAMPS / f"{fingerprint}-{extra}").touch()


def demo(arguments: list[str]) -> None:
    ensure_installed(DEMO_EXTRAS)
    run(BIN / "limbic", "demo", *arguments)


def test(arguments: list[str]) -> None:
    ensure_installed(TEST_EXTRAS)
    run(PYTHON, "-m", "pytest", *arguments)


def test_all(arguments: list[str]) -> None:
    ensure_installed(sorted(extras_available().keys() - NOT_IN_TEST_ALL))
    run(PYTHON, "-m", "pytest", *arguments)


def lint(arguments: list[str]) -> None:
    ensure_installed(LINT_EXTRAS)
    run(PYTHON, "-m", "ruff", "check", *arguments, ".")
    run(PYTHON, "-m", "ruff", "format", "--check", ".")
    run(BIN / "cython-lint", "limbic")
    run(PYTHON, "-m", "mypy")


def docs(arguments: list[str]) -> None:
    ensure_installed(DOC_EXTRAS)
    run(PYTHON, "-m", "pytest", "-q", "--doctest-modules", "limbic", "--ignore=limbic/commands.py")
    run(PYTHON, "-m", "pytest", "-q", "--doctest-glob=*.rst", "README.rst", "doc/source")
    target = ROOT / "doc" / "build"
    for stale in (target, ROOT / "doc" / "source" / "reference" / "generated"):
        shutil.rmtree(stale, ignore_errors=True)
    # -n: a reference that leads nowhere is a warning too; -W: a warning is an error.
    run(PYTHON, "-m", "sphinx", "-b", "html", "-n", "-W", "--keep-going", "-q", *arguments,
        ROOT / "doc" / "source", target / "html")  # fmt: skip


def bench(arguments: list[str]) -> None:
    ensure_installed(BENCH_EXTRAS)
    asv = [PYTHON, "-m", "asv"]
    config = ["--config", "asv.conf.json"]
    folder = ROOT / "benchmarks"
    run(*asv, "machine", "--yes", *config, cwd=folder)
    verb, *rest = arguments or ["run", "--quick", "--show-stderr", "HEAD^!"]
    run(*asv, verb, *config, *rest, cwd=folder)


def check_wheel(wheel: Path) -> None:
    """Refuse a wheel that lacks a file of the package, or carries one from outside it."""
    import zipfile

    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    tracked = subprocess.run(
        ["git", "ls-files", "limbic"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    suffixes = (".py", ".pyi", ".pxd", ".typed", ".jsonl")
    missing = sorted({name for name in tracked if name.endswith(suffixes)} - names)
    foreign = sorted(name for name in names if not name.startswith("limbic/"))
    if missing or foreign:
        raise SystemExit(f"{wheel.name} lacks {missing} and should not carry {foreign}")


def dist(arguments: list[str]) -> None:
    """Build what users download and prove that it works away from this tree."""
    ensure_installed(TEST_EXTRAS)
    target = ROOT / "dist"
    shutil.rmtree(target, ignore_errors=True)
    run(PYTHON, "-m", "build", "--outdir", target)  # the wheel is built from the sdist
    for artefact in sorted(target.iterdir()):
        if artefact.suffix == ".whl":
            check_wheel(artefact)
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            venv.create(scratch / "venv", with_pip=True)
            python = scratch / "venv" / BIN.name / PYTHON.name
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            run(*pip, f"{artefact}[test]")
            shutil.copytree(ROOT / "tests", scratch / "tests")
            for file in ("pyproject.toml", "README.rst"):
                shutil.copy(ROOT / file, scratch)
            run(python, "-m", "pytest", "-q", *arguments, cwd=scratch)


VERBS = {
    verb.__name__.replace("_", "-"): verb
    for verb in (demo, test, test_all, lint, docs, bench, dist)
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("verb", choices=VERBS)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="passed on to the tool behind")
    options = parser.parse_args()
    VERBS[options.verb](options.arguments)


if __name__ == "__main__":
    main()
