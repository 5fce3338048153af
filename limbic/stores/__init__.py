"""Where memories are kept."""

from limbic.stores.memory import MemStore
from limbic.stores.sqlite import SqliteStore

__all__ = ["MemStore", "SqliteStore"]
