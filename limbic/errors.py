"""The exceptions that are limbic's own.

Arguments that are wrong raise the builtin `ValueError` or `TypeError`; what goes wrong outside the
caller's arguments raises one of these::

    LimbicError
    |-- StoreError                  a store cannot be opened, read or written
    |-- EmbedderUnavailableError    an embedder is not installed, is down, or answers wrongly
    `-- MissingExtraError           an optional package is needed and absent (also an ImportError)
"""

__all__ = [
    "EmbedderUnavailableError",
    "LimbicError",
    "MissingExtraError",
    "StoreError",
    "is_embedder_unavailable",
]


class LimbicError(Exception):
    """Base of every exception that is limbic's own."""


class StoreError(LimbicError):
    """A store cannot be opened, read or written; the message names the store and the cause."""


class EmbedderUnavailableError(LimbicError):
    """An embedder cannot give vectors now; the message names it, and the cause is chained.

    Parameters
    ----------
    message : str
        What failed and what to do about it.
    embedder : str, optional
        Name of the embedder or model that failed.

    Attributes
    ----------
    embedder : str or None
        As given.
    """

    def __init__(self, message: str, *, embedder: str | None = None) -> None:
        super().__init__(message)
        self.embedder = embedder


class MissingExtraError(LimbicError, ImportError):
    """An optional package is needed for this call and is not installed.

    Parameters
    ----------
    package : str
        The package that could not be imported.
    extra : str
        The extra of limbic that installs it.
    purpose : str
        What the package is needed for, completing "... is needed for".
    """

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        super().__init__(
            f'the package {package!r} is needed for {purpose}: pip install "limbic-memory[{extra}]"'
        )
        self.name = package
        self.extra = extra


def is_embedder_unavailable(error: object) -> bool:
    """Tell whether an exception says that an embedder is unavailable.

    Parameters
    ----------
    error : object
        Usually an exception that was caught.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_embedder_unavailable(EmbedderUnavailableError("the server is down"))
    True
    >>> is_embedder_unavailable(ValueError("k"))
    False
    """
    return isinstance(error, EmbedderUnavailableError)
