"""Files of conversations, read and checked as a whole before anything is written."""

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

from limbic.errors import LimbicError
from limbic.timestamps import as_utc, to_text, utc_now
from limbic.types import Memory, MemoryEmotion

__all__ = ["BadLine", "Conversation", "IngestError", "parse_conversation", "read_conversation"]

SESSION_GAP = timedelta(hours=1)
"""A silence this long between two dated turns begins another session."""

_JSON_SUFFIXES = {".json", ".jsonl", ".ndjson"}
# What a row may say of a memory; any other key is kept in its metadata.
_PASSED_ON = (
    "category",
    "importance",
    "keywords",
    "subject",
    "feeling",
    "user_id",
    "agent_id",
    "session_id",
    "position",
    "source_message_id",
)
_KNOWN = {*_PASSED_ON, "role", "content", "timestamp", "emotion", "metadata"}


class IngestError(LimbicError):
    """A file cannot be taken in; the message says what is wrong and where."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not a memory.

    Parameters
    ----------
    number : int
        Its number in the file, from 1.
    reason : str
        What is wrong with it.
    """

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a file holds.

    Parameters
    ----------
    memories : list of Memory
        One a line, in the order of the file, without vectors.
    bad : list of BadLine
        The lines that were left out.
    """

    memories: list[Memory]
    bad: list[BadLine]


def read_conversation(
    path: str | Path, *, skip_bad: bool = False, now: datetime | None = None
) -> Conversation:
    """Read a file of JSON lines, or of plain text with one memory a line.

    Parameters
    ----------
    path : str or Path
        UTF-8. It is read as JSON lines if its name ends in ``.jsonl``, ``.ndjson`` or ``.json``,
        or if its first line that is not blank begins with ``{``.
    skip_bad : bool, default=False
        Leave malformed lines out and list them, instead of refusing the file.
    now : datetime, optional
        Time of what carries no timestamp; the time of the call unless given.

    Returns
    -------
    Conversation

    Raises
    ------
    IngestError
        If the file cannot be read, is not text, or holds no memory or a malformed line.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise IngestError(f"cannot read {path}: {error.strerror or error}") from error
    as_json = True if path.suffix.lower() in _JSON_SUFFIXES else None
    return parse_conversation(data, name=str(path), as_json=as_json, skip_bad=skip_bad, now=now)


def parse_conversation(
    data: bytes,
    *,
    name: str = "input",
    as_json: bool | None = None,
    skip_bad: bool = False,
    now: datetime | None = None,
) -> Conversation:
    r"""Read the bytes of a conversation; see `read_conversation`.

    Parameters
    ----------
    data : bytes
        UTF-8 text.
    name : str, default="input"
        What messages call the source, and its sessions are named after.
    as_json : bool, optional
        Whether the lines are JSON; found out from the first one unless given.
    skip_bad : bool, default=False
        Leave malformed lines out and list them.
    now : datetime, optional
        Time of what carries no timestamp.

    Returns
    -------
    Conversation

    Raises
    ------
    IngestError
        If the bytes are not text, or hold no memory or a malformed line.

    Notes
    -----
    A JSON line is an object with ``content``, and optionally ``role`` ("user" unless given),
    ``timestamp`` (ISO 8601), ``emotion`` (an object with ``label`` and ``intensity``) and the
    fields of `Memory`; its other keys go to the metadata. Dated turns form a session until they
    pause for an hour; undated ones form one session. Lines of plain text belong to no session.

    Every memory carries a `source_message_id`, by default a digest of its row, so that the same
    row is recognised when it comes again.

    Examples
    --------
    >>> read = parse_conversation(b'{"role": "user", "content": "Call me Ada."}\n')
    >>> read.memories[0].content, read.memories[0].metadata
    ('Call me Ada.', {'role': 'user'})
    >>> parse_conversation(b'{"content": 7}')
    Traceback (most recent call last):
      ...
    limbic.ingest.IngestError: input, line 1: content must be text that is not blank, got 7
    """
    lines = [(number, line) for number, line in enumerate(_lines(data, name), 1) if line.strip()]
    if not lines:
        raise IngestError(f"{name} holds no memory: it is empty")
    if as_json is None:
        as_json = lines[0][1].lstrip().startswith("{")
    moment = utc_now() if now is None else as_utc(now, "now")
    engine = secrets.token_hex(4)
    memories: list[Memory] = []
    dated: list[bool | None] = []
    bad: list[BadLine] = []
    for number, line in lines:
        id = f"mem_{engine}_{number:06d}"
        try:
            memory, has_time = (_from_json if as_json else _from_text)(line, id, moment)
        except (TypeError, ValueError) as error:
            if not skip_bad:
                raise IngestError(f"{name}, line {number}: {error}") from error
            bad.append(BadLine(number, str(error)))
        else:
            memories.append(memory)
            dated.append(has_time)
    if not memories:
        raise IngestError(f"{name} holds no memory: every line of it is malformed")
    return Conversation(list(_in_sessions(memories, dated, Path(name).stem)), bad)


def _lines(data: bytes, name: str) -> list[str]:
    null = data.find(b"\0")
    if null >= 0:
        raise IngestError(f"{name} is not a text file: it has a null byte at offset {null}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise IngestError(
            f"{name}, line {line}: not UTF-8 text (byte 0x{data[error.start]:02x} "
            f"at offset {error.start})"
        ) from error
    # Not splitlines: JSON may carry U+2028 and its like inside a string.
    return text.replace("\r\n", "\n").split("\n")


def _from_text(line: str, id: str, now: datetime) -> tuple[Memory, bool | None]:
    content = line.strip()
    source = _digest({"content": content})
    return Memory(id, content, created_at=now, source_message_id=source), None


def _from_json(line: str, id: str, now: datetime) -> tuple[Memory, bool | None]:
    row = _object(line)
    _check_encodable(row)
    content, role, timestamp = row.get("content"), row.get("role", "user"), row.get("timestamp")
    if not isinstance(content, str) or not content.strip():
        raise ValueError(f"content must be text that is not blank, got {_shown(content)}")
    if not isinstance(role, str):
        raise TypeError(f"role must be a string, got {_shown(role)}")
    fields = {key: row[key] for key in _PASSED_ON if row.get(key) is not None}
    importance = fields.get("importance")
    if isinstance(importance, int | float) and not 0 <= importance <= 1:
        raise ValueError(f"importance must be between 0 and 1, got {importance}")
    if row.get("emotion") is not None:
        fields["emotion"] = _emotion(row["emotion"])
    given = row.get("metadata") or {}
    if not isinstance(given, dict):
        raise TypeError(f"metadata must be an object, got {_shown(given)}")
    others = {key: value for key, value in row.items() if key not in _KNOWN}
    fields.setdefault("source_message_id", _digest(row))
    memory = Memory(
        id,
        content,
        created_at=now if timestamp is None else as_utc(timestamp, "timestamp"),
        metadata={**others, **given, "role": role},
        **fields,
    )
    return memory, timestamp is not None


def _object(line: str) -> dict[str, Any]:
    try:
        row = json.loads(line, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg} at column {error.colno})") from error
    except RecursionError as error:
        raise ValueError("not usable JSON (nested too deeply)") from error
    if not isinstance(row, dict):
        raise TypeError(f"must be a JSON object with a content, got {_shown(row)}")
    return row


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"not JSON ({name} is no JSON number)")


def _emotion(value: object) -> MemoryEmotion:
    if not isinstance(value, dict) or not isinstance(value.get("label"), str):
        raise TypeError(f"emotion must be an object with a label, got {_shown(value)}")
    return MemoryEmotion(value["label"], value.get("intensity", 0.0))


def _check_encodable(row: Mapping[str, Any]) -> None:
    # JSON can spell half of a surrogate pair, which no store can write.
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"holds half of a surrogate pair: {_shown(row)}") from error


def _digest(row: Mapping[str, Any]) -> str:
    """Return a name that the same row gets in every run."""
    text = json.dumps(row, sort_keys=True)
    return f"row-{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def _in_sessions(memories: list[Memory], dated: list[bool | None], stem: str) -> Iterator[Memory]:
    """Yield the memories with a session and a place in it, where the file names none.

    `dated` tells of each whether its row had a timestamp; None is for a line of plain text, which
    belongs to no session.
    """
    session, place = "", 0
    before: datetime | None = None
    for memory, has_time in zip(memories, dated, strict=True):
        if has_time is None:
            yield memory
            continue
        moment = memory.created_at if has_time else before
        paused = moment is not None and (before is None or abs(moment - before) > SESSION_GAP)
        if not session or paused:
            # Named after its first turn, so that a longer file names its sessions the same.
            session = stem if moment is None else f"{stem} {to_text(moment)[:16]}"
            place = 0
        before = moment
        yield replace(
            memory,
            session_id=session if memory.session_id is None else memory.session_id,
            position=place if memory.position is None else memory.position,
        )
        place += 1


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
