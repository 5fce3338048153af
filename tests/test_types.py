"""The records check themselves."""

import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from limbic.timestamps import as_utc, from_microseconds, to_microseconds, to_text
from limbic.types import Memory, MemoryEmotion


def test_defaults_are_those_of_the_contract():
    memory = Memory("m", "text", created_at="2026-08-26T12:00:00")
    assert memory.created_at == datetime(2026, 8, 26, 12, tzinfo=UTC)
    assert memory.last_accessed == memory.created_at
    assert (memory.category, memory.importance, memory.access_count) == ("general", 0.5, 0)
    assert (memory.subject, memory.keywords, memory.metadata) == ("user", [], {})


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"id": ""}, ValueError, "id must not be empty"),
        ({"id": 7}, TypeError, "id must be a string, got int: 7"),
        ({"content": None}, TypeError, "content must be a string"),
        ({"importance": math.nan}, ValueError, "importance must be finite, got nan"),
        ({"importance": True}, TypeError, "importance must be a number"),
        ({"keywords": "a,b"}, TypeError, "keywords must be a list of strings, got 'a,b'"),
        ({"keywords": [1]}, TypeError, "got 1 in it"),
        ({"access_count": -1}, ValueError, "access_count must be at least 0, got -1"),
        ({"position": -1}, ValueError, "position must be at least 0, got -1"),
        ({"position": 1.5}, TypeError, "position must be an int"),
        ({"subject": "me"}, ValueError, "subject must be 'user' or 'persona', got 'me'"),
        ({"created_at": "yesterday"}, ValueError, "created_at must be ISO 8601"),
        ({"last_accessed": 12}, TypeError, "last_accessed must be a datetime"),
        ({"user_id": 3}, TypeError, "user_id must be a string or None, got 3"),
        ({"metadata": [1]}, TypeError, "metadata must be a dict"),
        ({"metadata": {"a": [0, {"b": math.inf}]}}, ValueError, r"metadata\['a'\]\[1\]\['b'\]"),
        ({"metadata": {"a": {1: 2}}}, TypeError, "must be strings, got 1"),
        ({"metadata": {"a": object()}}, TypeError, "must be a JSON value, got object"),
        ({"embedding": [[1.0]]}, ValueError, r"one-dimensional, got shape \(1, 1\)"),
        ({"embedding": ["x"]}, ValueError, "embedding must be a vector of numbers"),
        ({"emotion": "joyful"}, TypeError, "emotion must be a MemoryEmotion"),
    ],
)
def test_bad_field_is_named_with_its_value(fields, error, message):
    with pytest.raises(error, match=message):
        Memory(**{"id": "m", "content": "text", **fields})


def test_memory_owns_what_it_was_given():
    keywords, metadata, vector = ["a"], {"a": [1]}, np.ones(3)
    memory = Memory("m", "text", keywords=keywords, metadata=metadata, embedding=vector)
    keywords.append("b")
    metadata["a"].append(2)
    vector[0] = 9
    assert memory.keywords == ["a"]
    assert memory.metadata == {"a": [1]}
    assert memory.embedding.tolist() == [1, 1, 1]
    assert not memory.embedding.flags.writeable


def test_equality_reads_every_field_and_the_bits_of_the_vector():
    memory = Memory("m", "text", embedding=[0.0, math.nan])
    assert memory == replace(memory)
    assert memory != replace(memory, embedding=[-0.0, math.nan])
    assert memory != replace(memory, emotion=MemoryEmotion("joyful", 0.5))
    assert memory != replace(memory, metadata={"a": 1})


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"])
def test_microseconds_keep_every_moment(text):
    moment = as_utc(text)
    assert from_microseconds(to_microseconds(moment)) == moment
    assert as_utc(to_text(moment)) == moment


def test_a_time_that_leaves_the_calendar_is_an_error():
    with pytest.raises(ValueError, match="leaves the years 1 to 9999"):
        as_utc("0001-01-01T00:00:00+02:00")
