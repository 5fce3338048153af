"""The commands of ``limbic``: data goes to stdout, every message to stderr."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress

import limbic
from limbic import demo as limbic_demo
from limbic.embedders import HashingEmbedder, WordLlamaEmbedder
from limbic.engine import create_limbic
from limbic.errors import LimbicError, MissingExtraError
from limbic.ingest import Conversation, IngestError, parse_conversation, read_conversation
from limbic.stores import SqliteStore
from limbic.timestamps import to_text
from limbic.types import Embedder, Memory

__all__ = ["app"]

app = typer.Typer(
    help="Remember conversations, answer from them without repeating yourself, forget.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

EMBED_BATCH = 64
"""How many texts go to the embedder at once; progress moves in these steps."""

Database = Annotated[Path, typer.Option("--db", help="SQLite file that holds the memories.")]
EmbedderName = Annotated[
    str,
    typer.Option(
        "--embedder",
        help="Where vectors come from: auto (wordllama when installed, else none), wordllama, "
        "hashing or none.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def demo() -> None:
    """Store a conversation of four months, ask six questions, let 90 days pass."""
    limbic_demo.run(embedder=_embedder("auto"))


@app.command()
def ingest(
    file: Annotated[str, typer.Argument(help="JSON lines or plain text; - reads stdin.")],
    db: Database,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave malformed lines out and list them.")
    ] = False,
    embedder: EmbedderName = "auto",
) -> None:
    """Store what a file holds: all of it, or nothing when something is wrong.

    A line of JSON has content, and optionally role, timestamp (ISO 8601), category, importance
    and other fields; a line of plain text is one memory. Rows that the database has already are
    left out and counted.
    """
    conversation = _conversation(file, skip_bad)
    for line in conversation.bad:
        _say(f"left out line {line.number}: {line.reason}")
    existed = db.exists()
    if not existed and not db.parent.is_dir():
        raise IngestError(f"cannot create {db}: the folder {db.parent} does not exist")
    # A database that is not ours is refused before the long work; a new one is made after it.
    known = _known_rows(db) if existed else set()
    fresh, repeated = _without_known(conversation.memories, known)
    if fresh:
        with_vectors = _embedded(fresh, _embedder(embedder))
        with closing(SqliteStore.open(db)) as store:
            store.save_many(with_vectors)
    _say(
        f"{_count(fresh, 'memory', 'memories')} stored in {db}"
        + (f", {repeated} left out as already there" if repeated else "")
        + (f", {_count(conversation.bad, 'malformed line')} left out" if conversation.bad else "")
    )


@app.command()
def retrieve(
    question: Annotated[str, typer.Argument(help="What to look for, in plain words.")],
    db: Database,
    k: Annotated[int, typer.Option("-k", help="At most how many memories.")] = 5,
    as_json: AsJson = False,
    embedder: EmbedderName = "auto",
) -> None:
    """Print the memories that answer a question, best first, without repetition.

    A line holds score, date and content, with tabs between them.
    """
    if k < 1:
        raise LimbicError(f"-k must be at least 1, got {k}")
    if not question.strip():
        raise LimbicError("the question must not be blank")
    with (
        closing(_existing(db)) as store,
        create_limbic(store=store, embedder=_embedder(embedder), ranking="hybrid") as engine,
    ):
        found = engine.retrieve(question, k)
    if as_json:
        _print_json([_record(hit.memory, hit.score) for hit in found])
        return
    for hit in found:
        print(f"{hit.score:.4f}\t{hit.memory.created_at:%Y-%m-%d}\t{_line(hit.memory.content)}")
    if not found:
        _say(f"{db} holds no memory that answers")


@app.command()
def stats(db: Database, as_json: AsJson = False) -> None:
    """Print what a database holds: how many memories, of which kind, with which vectors."""
    with closing(_existing(db)) as store:
        memories = store.all(limit=store.count())
    figures = _figures(memories, db)
    if as_json:
        _print_json(figures)
        return
    for name, value in figures.items():
        if not isinstance(value, dict):
            print(f"{name}\t{value}")
            continue
        for part, number in value.items():
            print(f"{name}.{_line(part)}\t{number}")


def _version(wanted: bool) -> None:
    if wanted:
        print(limbic.__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def _conversation(file: str, skip_bad: bool) -> Conversation:
    if file != "-":
        return read_conversation(file, skip_bad=skip_bad)
    return parse_conversation(sys.stdin.buffer.read(), name="stdin", skip_bad=skip_bad)


def _existing(db: Path) -> SqliteStore:
    # Opening would make the file; a mistyped path should not.
    if not db.exists():
        raise LimbicError(f"{db} does not exist; `limbic ingest FILE --db {db}` makes it")
    return SqliteStore.open(db)


def _known_rows(db: Path) -> set[str | None]:
    with closing(SqliteStore.open(db)) as store:
        return {memory.source_message_id for memory in store.all(limit=store.count())}


def _without_known(memories: list[Memory], known: set[str | None]) -> tuple[list[Memory], int]:
    """Return the memories whose rows are new, and how many were not."""
    fresh = []
    seen = set(known)
    for memory in memories:
        if memory.source_message_id not in seen:
            seen.add(memory.source_message_id)
            fresh.append(memory)
    return fresh, len(memories) - len(fresh)


def _embedder(name: str) -> Embedder | None:
    if name == "none":
        return None
    if name == "hashing":
        return HashingEmbedder()
    if name not in ("auto", "wordllama"):
        raise LimbicError(f"--embedder must be auto, wordllama, hashing or none, got {name!r}")
    try:
        return WordLlamaEmbedder()
    except MissingExtraError as error:
        if name == "wordllama":
            raise
        _say(f"no vectors, words alone: {error}")
        return None


def _embedded(memories: list[Memory], embedder: Embedder | None) -> list[Memory]:
    """Return the memories with their vectors; complain before anything is written."""
    if embedder is None:
        return memories
    done: list[Memory] = []
    with _progress("embedding", len(memories)) as advance:
        for start in range(0, len(memories), EMBED_BATCH):
            batch = memories[start : start + EMBED_BATCH]
            answer: Any = embedder.embed([memory.content for memory in batch])
            vectors = list(answer)
            if len(vectors) != len(batch):
                raise LimbicError(
                    f"{embedder.model} gave {len(vectors)} vectors for {len(batch)} texts"
                )
            for memory, given in zip(batch, vectors, strict=True):
                vector = np.asarray(given, dtype=np.float32)
                if not np.isfinite(vector).all():
                    raise LimbicError(
                        f"{embedder.model} gave a vector that is not finite "
                        f"for {_line(memory.content)[:60]!r}"
                    )
                done.append(replace(memory, embedding=vector, embedding_model=embedder.model))
            advance(len(batch))
    return done


@contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal; a pipe or a file sees nothing of it."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.update(task, advance=steps)


def _figures(memories: list[Memory], db: Path) -> dict[str, Any]:
    moments = [memory.created_at for memory in memories]
    models = Counter(memory.embedding_model or "unnamed" for memory in memories if _vector(memory))
    return {
        "memories": len(memories),
        "first": to_text(min(moments)) if moments else None,
        "last": to_text(max(moments)) if moments else None,
        "sessions": len({memory.session_id for memory in memories} - {None}),
        "categories": dict(sorted(Counter(memory.category for memory in memories).items())),
        "vectors": dict(sorted(models.items())),
        "bytes": db.stat().st_size,
    }


def _vector(memory: Memory) -> bool:
    return memory.embedding is not None


def _record(memory: Memory, score: float) -> dict[str, Any]:
    return {
        "id": memory.id,
        "score": score,
        "content": memory.content,
        "role": memory.metadata.get("role"),
        "category": memory.category,
        "importance": memory.importance,
        "created_at": to_text(memory.created_at),
        "session_id": memory.session_id,
    }


def _print_json(value: object) -> None:
    # ASCII: it reads the same whatever the encoding of the pipe.
    print(json.dumps(value, indent=2))


def _line(text: str) -> str:
    """Return text on one line, with no control character that a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in text)


def _count(things: list[Any], one: str, many: str | None = None) -> str:
    return f"{len(things)} {one if len(things) == 1 else many or one + 's'}"


def _say(sentence: str) -> None:
    print(f"limbic: {sentence}", file=sys.stderr)
