"""Files are read as a whole, and what is wrong in them is named with its place."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limbic.ingest import IngestError, parse_conversation, read_conversation
from limbic.timestamps import as_utc

NOW = as_utc("2026-06-01T00:00:00")


def rows(*objects):
    return "".join(json.dumps(o) + "\n" for o in objects).encode()


def parse(data, **options):
    return parse_conversation(data, **{"now": NOW, **options})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "holds no memory: it is empty"),
        (b"\n  \n\t\n", "holds no memory: it is empty"),
        (b"\xef\xbb\xbf\n", "holds no memory: it is empty"),
        (b"ab\0c", "not a text file: it has a null byte at offset 2"),
        (b"one\ntwo \xff\n", r"line 2: not UTF-8 text \(byte 0xff at offset 8\)"),
        (b'{"content": "a"}\n{"content": \n', r"line 2: not JSON \(Expecting value at column 13\)"),
        (b'{"content": "a"}\nplain\n', "line 2: not JSON"),
        (b'{"content": "a"}\n\n["a"]\n', r"line 3: must be a JSON object with a content, got \['a"),
        (b'{"content": "a", "x": ' + b"[" * 100_000, "line 1: not usable JSON"),
        (rows({"role": "user"}), "line 1: content must be text that is not blank, got None"),
        (rows({"content": " "}), "content must be text that is not blank, got ' '"),
        (rows({"content": ["x"] * 99}), r"got \['x', .*\.\.\.$"),
        (rows({"content": "a", "role": 3}), "role must be a string, got 3"),
        (rows({"content": "a", "timestamp": "soon"}), "timestamp must be ISO 8601 text"),
        (rows({"content": "a", "timestamp": 17}), "timestamp must be a datetime or ISO 8601"),
        (rows({"content": "a", "importance": 2}), "importance must be between 0 and 1, got 2"),
        (rows({"content": "a", "importance": "high"}), "importance must be a number"),
        (b'{"content": "a", "importance": NaN}', "NaN is no JSON number"),
        (b'{"content": "a", "weight": -Infinity}', "-Infinity is no JSON number"),
        (b'{"content": "a", "importance": 1e999}', "importance must be between 0 and 1, got inf"),
        (b'{"content": "a", "weight": 1e999}', "must be finite, got inf"),
        (rows({"content": "a", "keywords": "k"}), "keywords must be a list of strings"),
        (rows({"content": "a", "position": 2**63}), "position must be below 2"),
        (rows({"content": "a", "emotion": "sad"}), "emotion must be an object with a label"),
        (rows({"content": "a", "emotion": {"label": 1}}), "emotion must be an object with a label"),
        (rows({"content": "a", "metadata": [1]}), r"metadata must be an object, got \[1\]"),
        (b'{"content": "\\ud800"}', "holds half of a surrogate pair"),
        (b'{"content": "a", "note": "\\ud800"}', "holds half of a surrogate pair"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(data, message):
    with pytest.raises(IngestError, match=message):
        parse(data, name="talk.jsonl", as_json=None if not data.startswith(b"[") else True)


def test_messages_name_the_file(tmp_path):
    path = tmp_path / "talk.jsonl"
    path.write_text("oops\n")
    with pytest.raises(IngestError, match=r"talk\.jsonl, line 1: not JSON"):
        read_conversation(path)
    with pytest.raises(IngestError, match=r"cannot read .*absent\.txt: No such file"):
        read_conversation(tmp_path / "absent.txt")
    with pytest.raises(IngestError, match=r"cannot read .*: Is a directory"):
        read_conversation(tmp_path)


def test_skip_bad_keeps_the_others_and_lists_what_it_left_out():
    data = b'{"content": "a"}\noops\n{"content": "b"}\n{"content": 1}\n'
    read = parse(data, skip_bad=True)
    assert [memory.content for memory in read.memories] == ["a", "b"]
    assert [(line.number, line.reason.split(",")[0]) for line in read.bad] == [
        (2, "not JSON (Expecting value at column 1)"),
        (4, "content must be text that is not blank"),
    ]
    with pytest.raises(IngestError, match="every line of it is malformed"):
        parse(b"{\n{\n", skip_bad=True)


def test_plain_text_is_one_memory_a_line_without_session(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes("\ufefffirst\r\n\r\n  naïve café \r\nlast\u2028still last".encode())
    memories = read_conversation(path, now=NOW).memories
    assert [m.content for m in memories] == ["first", "naïve café", "last\u2028still last"]
    assert {(m.created_at, m.session_id, m.position) for m in memories} == {(NOW, None, None)}
    assert len({m.id for m in memories}) == 3


def test_a_row_keeps_everything_it_says():
    row = {
        "role": "assistant",
        "content": " spaced ",
        "timestamp": "2026-01-01T10:00:00+02:00",
        "category": "work",
        "importance": 1,
        "keywords": ["k"],
        "emotion": {"label": "proud", "intensity": 0.5},
        "user_id": "ada",
        "channel": "mail",
        "metadata": {"topic": "x"},
    }
    memory = parse(rows(row)).memories[0]
    assert memory.content == " spaced "
    assert memory.created_at == as_utc("2026-01-01T08:00:00")
    assert (memory.category, memory.importance, memory.keywords) == ("work", 1.0, ["k"])
    assert (memory.emotion.label, memory.emotion.intensity) == ("proud", 0.5)
    assert memory.user_id == "ada"
    assert memory.metadata == {"channel": "mail", "topic": "x", "role": "assistant"}


def test_sessions_end_after_an_hour_of_silence_and_undated_rows_stay_inside():
    times = ["2026-01-01T10:00", None, "2026-01-01T11:00", "2026-01-01T12:00:01", None]
    data = rows(*({"content": str(i), "timestamp": t} for i, t in enumerate(times)))
    found = [(m.session_id, m.position) for m in parse(data, name="d/talk.jsonl").memories]
    assert found == [
        ("talk 2026-01-01T10:00", 0),
        ("talk 2026-01-01T10:00", 1),
        ("talk 2026-01-01T10:00", 2),
        ("talk 2026-01-01T12:00", 0),
        ("talk 2026-01-01T12:00", 1),
    ]
    undated = parse(rows({"content": "a"}, {"content": "b"}), name="talk").memories
    assert [(m.session_id, m.position) for m in undated] == [("talk", 0), ("talk", 1)]
    named = parse(rows({"content": "a", "session_id": "s", "position": 7})).memories[0]
    assert (named.session_id, named.position) == ("s", 7)


def test_the_same_row_has_the_same_source_in_every_reading_and_others_another():
    one = {"content": "a", "timestamp": "2026-01-01T10:00"}
    later = {**one, "timestamp": "2026-01-02T10:00"}
    other = {**one, "role": "assistant"}
    first = [m.source_message_id for m in parse(rows(one, later, other)).memories]
    again = [m.source_message_id for m in parse(rows(one, later, other)).memories]
    assert first == again
    assert len(set(first)) == 3
    given_ = parse(rows({**one, "source_message_id": "m1"})).memories[0]
    assert given_.source_message_id == "m1"


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_raise_anything_but_an_ingest_error(data, as_json):
    with contextlib.suppress(IngestError):
        assert parse(data, as_json=as_json).memories


ODD_VALUES = [
    None,
    True,
    0,
    -1,
    2**70,
    0.5,
    -0.0,
    1e308,
    "",
    "x",
    "2026-01-01",
    "9" * 99,
    [],
    ["k"],
]
ODD_VALUES += [[[]], {}, {"label": "sad", "intensity": "much"}, {"label": "sad"}, {"": {"a": [1]}}]
KEYS = ["content", "role", "timestamp", "importance", "keywords", "emotion", "metadata"]
KEYS += ["position", "subject", "session_id", "source_message_id", "category", "x"]


@given(st.dictionaries(st.sampled_from(KEYS), st.sampled_from(ODD_VALUES)))
def test_no_row_raises_anything_but_an_ingest_error(row):
    with contextlib.suppress(IngestError):
        assert len(parse(rows({"content": "a", **row})).memories) == 1
