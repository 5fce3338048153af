"""The score of one memory, and of a pool of them."""

from benchmarks.common import NOW, QUESTION, made_memories
from limbic.scoring import ScoreQuery, score_memory


class ScoreOne:
    """A plain Python call a memory: what a caller pays who scores by hand."""

    params = [0, 256]  # noqa: RUF012
    param_names = ["dim"]  # noqa: RUF012

    def setup(self, dim):
        *self.memories, asked = made_memories(201, dim)
        self.query = ScoreQuery(QUESTION, embedding=asked.embedding)

    def time_score_memory_200(self, dim):
        for memory in self.memories:
            score_memory(memory, self.query, NOW)
