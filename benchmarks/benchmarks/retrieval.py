"""A question put to a store, end to end."""

from benchmarks.common import NOW, QUESTION, FixedEmbedder, made_memories
from limbic.engine import create_limbic
from limbic.stores import MemStore


class Retrieve:
    """The first question builds the index; the next ones find it ready."""

    params = ([1_000, 20_000], [0, 256])
    param_names = ("memories", "dim")
    timeout = 300

    def setup(self, memories, dim):
        store = MemStore()
        store.save_many(made_memories(memories, dim))
        self.engine = create_limbic(store=store, embedder=FixedEmbedder(dim) if dim else None)
        self.engine.retrieve(QUESTION, 5, now=NOW)

    def teardown(self, memories, dim):
        self.engine.close()

    def time_next_question(self, memories, dim):
        self.engine.retrieve(QUESTION, 5, now=NOW)

    def time_first_question(self, memories, dim):
        engine = create_limbic(
            store=self.engine.store, embedder=FixedEmbedder(dim) if dim else None
        )
        engine.retrieve(QUESTION, 5, now=NOW)

    def peakmem_next_question(self, memories, dim):
        self.engine.retrieve(QUESTION, 5, now=NOW)
