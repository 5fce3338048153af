"""Picks the build of the kernels for this processor.

The builds differ in speed alone: every one returns the same bits. The environment variable
``LIMBIC_DIVERSITY_ISA`` (``baseline``, ``avx2`` or ``avx512``) forces one, for tests. `ISA` names
the one in use, `kernels` is its module.
"""

import importlib
import os
from types import ModuleType
from typing import TYPE_CHECKING, Final

from limbic.diversity import _kernels_baseline

__all__ = ["ISA", "Points", "available", "kernels"]

VARIABLE: Final = "LIMBIC_DIVERSITY_ISA"
_FASTEST_FIRST: Final = ("avx512", "avx2", "baseline")


def _load(isa: str) -> ModuleType | None:
    """Return the build for an instruction set, or None where it is not built or cannot run."""
    if not _kernels_baseline.processor_has(isa):
        return None
    name = f"limbic.diversity._kernels_{isa}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None  # this compiler could not build it


def available() -> list[str]:
    """Return the instruction sets that are built and that this processor has, fastest first."""
    return [isa for isa in _FASTEST_FIRST if _load(isa) is not None]


def _choose() -> tuple[str, ModuleType]:
    forced = os.environ.get(VARIABLE)
    if forced and forced not in _FASTEST_FIRST:
        raise ImportError(f"{VARIABLE} must be one of {', '.join(_FASTEST_FIRST)}, got {forced!r}")
    for isa in (forced,) if forced else _FASTEST_FIRST:
        module = _load(isa)
        if module is not None:
            return isa, module
    raise ImportError(
        f"{VARIABLE} is {forced!r}, which this build or this processor lacks; "
        f"available: {', '.join(available())}"
    )


ISA, kernels = _choose()

if TYPE_CHECKING:
    from limbic.diversity._kernels_baseline import Points
else:
    Points = kernels.Points
