"""The demonstration: four months of a conversation remembered, asked about, and let fade."""

import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from importlib import resources
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from limbic.engine import Limbic, create_limbic
from limbic.ingest import parse_conversation
from limbic.retrieval import ScoredMemory
from limbic.stores import SqliteStore
from limbic.types import Embedder, Memory

__all__ = ["QUESTIONS", "conversation", "redundancy", "run"]

QUESTIONS = (
    "Which food is she allergic to?",
    "When and where does her sister Judith marry?",
    "How is her left knee, and is she allowed to run?",
    "How are Pixel's hips, and does he travel along?",
    "When should I call her, and how long may answers be?",
    "How is it going with Sverre and the sea chart?",
)
"""What the demonstration asks."""

PICKS = 5
LATER = timedelta(days=90)
_SHOWN_FADED = 6
_WIDTH = 118


def conversation() -> list[Memory]:
    """Return the turns that come with limbic, oldest first, without vectors.

    Returns
    -------
    list of Memory

    Examples
    --------
    >>> turns = conversation()
    >>> len(turns), turns[0].metadata["role"], f"{turns[0].created_at:%d %B %Y}"
    (82, 'user', '12 January 2026')
    """
    file = resources.files("limbic") / "data" / "conversation.jsonl"
    return parse_conversation(file.read_bytes(), name="conversation.jsonl").memories


def redundancy(memories: Sequence[Memory]) -> float | None:
    """Return how much a selection repeats itself.

    The mean over its memories of each one's largest cosine to another of them.

    Parameters
    ----------
    memories : sequence of Memory

    Returns
    -------
    float or None
        None if fewer than two memories carry a vector.

    Examples
    --------
    >>> a, b = Memory("a", "x", embedding=[1.0, 0.0]), Memory("b", "y", embedding=[0.6, 0.8])
    >>> round(redundancy([a, b]), 6)
    0.6
    """
    vectors = [memory.embedding for memory in memories if memory.embedding is not None]
    if len(vectors) < 2:
        return None
    rows = np.asarray(vectors, dtype=np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, -np.inf)
    return float(cosines.max(axis=1).mean())


def run(*, embedder: Embedder | None, console: Console | None = None) -> None:
    """Store the conversation in a temporary file, ask, and move the clock.

    Parameters
    ----------
    embedder : Embedder, optional
        Without one, words, time and importance alone decide, and nothing can be told to repeat.
    console : rich.console.Console, optional
        Where to print; stdout unless given.
    """
    console = _console() if console is None else console
    turns = conversation()
    with (
        tempfile.TemporaryDirectory(prefix="limbic-demo-") as folder,
        create_limbic(
            store=SqliteStore.open(Path(folder) / "demo.db"), embedder=embedder, ranking="hybrid"
        ) as engine,
    ):
        _remember(engine, turns)
        now = turns[-1].created_at + timedelta(hours=12)
        console.print(
            f"[bold]limbic[/] remembers {engine.store.count()} turns of a conversation, "
            f"{turns[0].created_at:%d %b} to {turns[-1].created_at:%d %b %Y}, "
            "in a SQLite file."
        )
        console.print(_about_vectors(embedder))
        for question in QUESTIONS:
            _ask(engine, question, now, console)
        _fade(engine, now + LATER, console)


def _console() -> Console:
    console = Console(highlight=False)
    # A pipe has no width of its own; two columns of sentences need more than rich's 80.
    width = _WIDTH if not console.is_terminal else min(console.width, _WIDTH)
    return Console(highlight=False, width=width)


def _about_vectors(embedder: Embedder | None) -> str:
    if embedder is None:
        return (
            "No embedding model is installed, so words alone decide: "
            r'pip install "limbic-memory\[local]" brings one that works offline.'
        )
    return f"Vectors come from {embedder.model}, computed on this machine."


def _remember(engine: Limbic, turns: Sequence[Memory]) -> None:
    for turn in turns:
        engine.remember(
            turn.content,
            category=turn.category,
            importance=turn.importance,
            emotion=turn.emotion,
            created_at=turn.created_at,
            session_id=turn.session_id,
            position=turn.position,
            metadata=turn.metadata,
        )


def _ask(engine: Limbic, question: str, now: datetime, console: Console) -> None:
    plain = engine.retrieve(question, PICKS, now=now, lam=0.0)
    chosen = engine.retrieve(question, PICKS, now=now)
    table = Table(title=question, title_justify="left", title_style="bold", show_lines=False)
    for heading, hits in ((f"plain top {PICKS}", plain), ("limbic", chosen)):
        value = redundancy([hit.memory for hit in hits])
        shown = "" if value is None else f", redundancy {value:.2f}"
        table.add_column(f"{heading}{shown}", ratio=1)
    for row in range(max(len(plain), len(chosen))):
        table.add_row(_cell(plain, row), _cell(chosen, row))
    table.expand = True
    console.print()
    console.print(table)


def _cell(hits: Sequence[ScoredMemory], row: int) -> str:
    if row >= len(hits):
        return ""
    hit = hits[row]
    return f"[cyan]{hit.score:.3f}[/] {hit.memory.created_at:%d %b}  {escape(hit.memory.content)}"


def _fade(engine: Limbic, later: datetime, console: Console) -> None:
    before = {memory.id: memory for memory in engine.store.all(limit=engine.store.count())}
    report = engine.decay_pass(now=later)
    kept = {memory.id for memory in engine.store.all(limit=max(1, engine.store.count()))}
    faded = [memory for id, memory in before.items() if id not in kept]
    console.print()
    console.print(
        f"[bold]{LATER.days} days later[/], {later:%d %b %Y}: {report.faded} memories have faded, "
        f"{report.decayed} remain. Faded, the most important first:"
    )
    for memory in faded[:_SHOWN_FADED]:
        console.print(
            f"  [dim]{memory.created_at:%d %b}  {memory.category}: {escape(memory.content)}[/]"
        )
    console.print("Kept, the most important first:")
    for memory in list(before.values())[:3]:
        if memory.id in kept:
            console.print(
                f"  {memory.created_at:%d %b}  {memory.category}: {escape(memory.content)}"
            )
