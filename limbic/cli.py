"""The command ``limbic``: its entry, which says what is missing when the extra ``cli`` is.

The commands themselves are in `limbic.commands`; they need typer and rich.
"""

import sys

from limbic.errors import LimbicError, MissingExtraError

__all__ = ["main"]

_CLI_PACKAGES = {"typer", "rich"}


def main() -> None:
    """Run the command line; leave with 0, or with 2 and one sentence on what went wrong."""
    try:
        try:
            from limbic.commands import app
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in _CLI_PACKAGES:
                raise
            raise MissingExtraError(package, extra="cli", purpose="the command line") from error
        app(prog_name="limbic")
    except LimbicError as error:
        print(f"limbic: {' '.join(str(error).split())}", file=sys.stderr)
        raise SystemExit(2) from error
