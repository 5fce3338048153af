"""Writing to, reading from and fading in the stores."""

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path

from benchmarks.common import NOW, made_memories
from limbic.decay import decay_pass
from limbic.stores import MemStore, SqliteStore

MANY = 2_000
DIM = 256


class Stores:
    """The same calls on every store."""

    params = ["memory", "sqlite"]  # noqa: RUF012
    param_names = ["store"]  # noqa: RUF012
    number = 1  # each call meets the store as setup left it

    def setup(self, store):
        self.folder = Path(tempfile.mkdtemp())
        self.memories = made_memories(MANY, DIM)
        self.empty = self.opened(store, "empty.db")
        self.full = self.opened(store, "full.db")
        self.full.save_many(self.memories)

    def teardown(self, store):
        self.empty.close()
        self.full.close()
        shutil.rmtree(self.folder)

    def opened(self, store, name):
        return MemStore() if store == "memory" else SqliteStore.open(self.folder / name)

    def time_save_100(self, store):
        for memory in self.memories[:100]:
            self.empty.save(memory)

    def time_save_many(self, store):
        self.empty.save_many(self.memories)

    def time_get_100(self, store):
        for memory in self.memories[:100]:
            self.full.get(memory.id)

    def time_all(self, store):
        self.full.all(limit=MANY)

    def time_search(self, store):
        self.full.search("harbour", 20)

    def time_decay_pass(self, store):
        decay_pass(self.full, NOW + timedelta(days=90))
