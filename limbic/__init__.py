"""limbic: the memory engine that Python agents use on their own machine.

Engine
------
create_limbic       an engine over a store: remember, retrieve, decay_pass
Limbic              what it returns
retrieve            the best memories for a query that do not repeat each other
score_pool          the best memories for a query
diversify           the ones of a pool that do not repeat each other
RetrieveOptions     everything that a retrieval may be told
ScoredMemory        a memory and its score
Explanation         how the score came about, and whom diversity left out for it
LeftOut             one memory that was left out

Records
-------
Memory              one thing remembered
MemoryEmotion       the emotion that it carries
Embedder            protocol: what turns texts into vectors
MemoryStore         protocol: what every store does

Stores
------
MemStore            in memory
SqliteStore         in one SQLite file

Scores and forgetting
---------------------
score_memory             the classic score of one memory
score_memory_detailed    the same with every channel
ScoreQuery, ScoreWeights, ScoreBreakdown
HybridWeights            weights of the hybrid ranking (see `limbic.ranking`)
HybridBreakdown          its channels for one memory
calculate_decay          how strong a memory still is
decay_pass               delete what has faded
DecayReport              what the pass did

Errors
------
LimbicError, StoreError, EmbedderUnavailableError, MissingExtraError, is_embedder_unavailable

Selection by diversity, usable by itself, is in `limbic.diversity`.
"""

from limbic.decay import (
    ACCESS_REINFORCEMENT_DAYS,
    CATEGORY_HALF_LIFE_DAYS,
    DEFAULT_HALF_LIFE_DAYS,
    FADE_THRESHOLD,
    IMPORTANCE_DECAY_FACTOR,
    STRENGTH_FLOOR_HIGH,
    STRENGTH_FLOOR_MEDIUM,
    DecayReport,
    calculate_decay,
    decay_pass,
)
from limbic.engine import Limbic, create_limbic
from limbic.errors import (
    EmbedderUnavailableError,
    LimbicError,
    MissingExtraError,
    StoreError,
    is_embedder_unavailable,
)
from limbic.ranking import DEFAULT_HYBRID_WEIGHTS, HybridBreakdown, HybridWeights
from limbic.retrieval import (
    DEFAULT_LAMBDA,
    DEFAULT_POOL,
    Explanation,
    LeftOut,
    RetrieveOptions,
    ScoredMemory,
    diversify,
    retrieve,
    score_pool,
)
from limbic.scoring import (
    DEFAULT_WEIGHTS,
    EMBED_BLEND,
    EMOTION_HIGH_THRESHOLD,
    EMOTION_MEDIUM_THRESHOLD,
    RECENCY_HALF_LIFE_DAYS,
    ScoreBreakdown,
    ScoreQuery,
    ScoreWeights,
    score_memory,
    score_memory_detailed,
)
from limbic.stores import MemStore, SqliteStore
from limbic.types import (
    DEFAULT_ALL_LIMIT,
    MEMORY_CATEGORIES,
    DecayCandidate,
    Embedder,
    Memory,
    MemoryCategory,
    MemoryEmotion,
    MemoryStore,
)

__version__ = "0.1.0"

__all__ = [
    "ACCESS_REINFORCEMENT_DAYS",
    "CATEGORY_HALF_LIFE_DAYS",
    "DEFAULT_ALL_LIMIT",
    "DEFAULT_HALF_LIFE_DAYS",
    "DEFAULT_HYBRID_WEIGHTS",
    "DEFAULT_LAMBDA",
    "DEFAULT_POOL",
    "DEFAULT_WEIGHTS",
    "EMBED_BLEND",
    "EMOTION_HIGH_THRESHOLD",
    "EMOTION_MEDIUM_THRESHOLD",
    "FADE_THRESHOLD",
    "IMPORTANCE_DECAY_FACTOR",
    "MEMORY_CATEGORIES",
    "RECENCY_HALF_LIFE_DAYS",
    "STRENGTH_FLOOR_HIGH",
    "STRENGTH_FLOOR_MEDIUM",
    "DecayCandidate",
    "DecayReport",
    "Embedder",
    "EmbedderUnavailableError",
    "Explanation",
    "HybridBreakdown",
    "HybridWeights",
    "LeftOut",
    "Limbic",
    "LimbicError",
    "MemStore",
    "Memory",
    "MemoryCategory",
    "MemoryEmotion",
    "MemoryStore",
    "MissingExtraError",
    "RetrieveOptions",
    "ScoreBreakdown",
    "ScoreQuery",
    "ScoreWeights",
    "ScoredMemory",
    "SqliteStore",
    "StoreError",
    "calculate_decay",
    "create_limbic",
    "decay_pass",
    "diversify",
    "is_embedder_unavailable",
    "retrieve",
    "score_memory",
    "score_memory_detailed",
    "score_pool",
]
