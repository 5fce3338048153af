"""Rules that every store shares."""

from collections.abc import Iterable

__all__ = ["check_limit", "contains"]

_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def check_limit(limit: object) -> int:
    """Return a valid limit: an int of at least 0."""
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise TypeError(f"limit must be an int, got {limit!r}")
    if limit < 0:
        raise ValueError(f"limit must be at least 0, got {limit}")
    return min(limit, 2**63 - 1)


def contains(needle: str, content: str, keywords: Iterable[str]) -> bool:
    """Tell whether content or a keyword contains the needle, A-Z without regard to case.

    The needle is plain text; an empty one is contained in everything.
    """
    lowered = needle.translate(_ASCII_LOWER)
    return any(lowered in part.translate(_ASCII_LOWER) for part in (content, *keywords))
