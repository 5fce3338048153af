"""The command line: data on stdout, messages on stderr, 2 and nothing written when it is wrong."""

import json
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import limbic
from limbic.cli import main
from limbic.errors import EmbedderUnavailableError
from limbic.stores import SqliteStore

pytest.importorskip("typer", reason="needs the extra cli")
pytest.importorskip("rich", reason="needs the extra cli")

from limbic import commands
from limbic.embedders import HashingEmbedder

TALK = [
    {"role": "user", "content": "I am allergic to hazelnuts.", "timestamp": "2026-01-01T10:00:00"},
    {"role": "assistant", "content": "No hazelnuts, then.", "timestamp": "2026-01-01T10:01:00"},
    {"role": "user", "content": "My boat is called Tern.", "timestamp": "2026-02-01T10:00:00"},
]


@pytest.fixture
def run(monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["limbic", *map(str, arguments)])
        status = 0
        try:
            main()
        except SystemExit as leaving:
            status = leaving.code or 0
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return call


@pytest.fixture
def talk(tmp_path):
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in TALK))
    return path


@pytest.fixture
def db(tmp_path):
    return tmp_path / "memories.db"


@pytest.fixture
def filled(run, talk, db):
    assert run("ingest", talk, "--db", db, "--embedder", "hashing")[0] == 0
    return db


def contents(db):
    with SqliteStore.open(db) as store:
        return sorted(memory.content for memory in store.all(limit=1000))


def test_ingest_retrieve_stats(run, talk, db):
    status, out, err = run("ingest", talk, "--db", db, "--embedder", "hashing")
    assert (status, out) == (0, "")
    assert err == f"limbic: 3 memories stored in {db}\n"
    status, out, err = run("retrieve", "which nuts, hazelnuts?", "--db", db, "-k", 2,
                           "--embedder", "hashing")  # fmt: skip
    assert (status, err) == (0, "")
    score, date, content = out.splitlines()[0].split("\t")
    assert 0 < float(score) <= 1
    assert date == "2026-01-01"
    assert "azelnuts" in content
    status, out, err = run("stats", "--db", db)
    assert (status, err) == (0, "")
    figures = dict(line.split("\t") for line in out.splitlines())
    assert figures["memories"] == "3"
    assert figures["first"] == "2026-01-01T10:00:00.000000+00:00"
    assert figures["sessions"] == "2"
    assert figures["categories.general"] == "3"


def test_json_output_has_a_stable_shape(run, filled):
    status, out, err = run("retrieve", "boat", "--db", filled, "--json", "--embedder", "hashing")
    assert (status, err) == (0, "")
    hits = json.loads(out)
    assert [list(hit) for hit in hits] == [
        ["id", "score", "content", "role", "category", "importance", "created_at", "session_id"]
    ] * len(hits)
    boat = next(hit for hit in hits if "boat" in hit["content"])
    assert (boat["role"], boat["created_at"]) == ("user", "2026-02-01T10:00:00.000000+00:00")
    figures = json.loads(run("stats", "--db", filled, "--json")[1])
    assert list(figures) == [
        "memories", "first", "last", "sessions", "categories", "vectors", "bytes"
    ]  # fmt: skip
    assert sum(figures["vectors"].values()) == 3


def test_reading_changes_nothing(run, filled):
    with SqliteStore.open(filled) as store:
        before = store.all(limit=10)
    run("retrieve", "boat", "--db", filled, "--embedder", "hashing")
    run("stats", "--db", filled)
    with SqliteStore.open(filled) as store:
        assert store.all(limit=10) == before


def test_a_file_given_again_adds_only_what_is_new(run, talk, filled):
    status, _, err = run("ingest", talk, "--db", filled, "--embedder", "none")
    assert status == 0
    assert err.startswith(f"limbic: 0 memories stored in {filled}, 3 left out as already there")
    with talk.open("a") as file:
        file.write('{"content": "new"}\n{"content": "new"}\n')
    status, _, err = run("ingest", talk, "--db", filled, "--embedder", "none")
    assert "1 memory stored" in err
    assert "4 left out as already there" in err
    assert len(contents(filled)) == 4


def test_one_malformed_line_keeps_everything_out_unless_skipped(run, talk, db):
    with talk.open("a") as file:
        file.write('{"content": \n')
    status, out, err = run("ingest", talk, "--db", db, "--embedder", "none")
    assert (status, out) == (2, "")
    assert err == f"limbic: {talk}, line 4: not JSON (Expecting value at column 13)\n"
    assert not db.exists()
    status, _, err = run("ingest", talk, "--db", db, "--skip-bad", "--embedder", "none")
    assert status == 0
    assert "left out line 4: not JSON" in err
    assert "3 memories stored" in err
    assert "1 malformed line left out" in err


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "holds no memory: it is empty"),
        (b"\x7fELF\0\0", "is not a text file"),
        (b'{"content": "a", "importance": NaN}', "NaN is no JSON number"),
    ],
)
def test_an_unusable_file_leaves_no_database(run, tmp_path, db, data, message):
    path = tmp_path / "input.jsonl"
    path.write_bytes(data)
    status, out, err = run("ingest", path, "--db", db)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert str(path) in err
    assert not db.exists()


class Broken(HashingEmbedder):
    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def embed(self, texts):
        return self.answer(texts)


def down(texts):
    raise EmbedderUnavailableError("the embedder is down")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda texts: [[float("nan"), 1.0]] * len(texts), "vector that is not finite for 'I am"),
        (lambda texts: [[1.0, 0.0]], "gave 1 vectors for 3 texts"),
        (down, "the embedder is down"),
    ],
)
def test_bad_vectors_leave_the_database_as_it_was(run, talk, db, monkeypatch, answer, message):
    monkeypatch.setattr(commands, "_embedder", lambda name: Broken(answer))
    status, _, err = run("ingest", talk, "--db", db)
    assert (status, err.count("\n")) == (2, 1)
    assert message in err
    assert not db.exists()


def test_a_store_that_fails_midway_leaves_nothing_half_written(run, talk, filled):
    with sqlite3.connect(filled) as connection:
        connection.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON memories "
            "WHEN new.content = 'third' BEGIN SELECT RAISE(ABORT, 'refused'); END"
        )
    connection.close()
    before = contents(filled)
    talk.write_text('{"content": "first"}\n{"content": "second"}\n{"content": "third"}\n')
    status, _, err = run("ingest", talk, "--db", filled, "--embedder", "none")
    assert (status, err.count("\n")) == (2, 1)
    assert contents(filled) == before


@pytest.mark.parametrize("command", [["retrieve", "boat"], ["stats"]])
def test_a_database_that_is_not_there_is_not_made(run, db, command):
    status, out, err = run(*command, "--db", db)
    assert (status, out) == (2, "")
    assert f"{db} does not exist" in err
    assert not db.exists()


@pytest.mark.parametrize("data", [b"Dear diary,\n" * 200, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_file_that_is_no_database_is_refused_and_kept(run, talk, tmp_path, data):
    path = tmp_path / "diary.txt"
    path.write_bytes(data)
    for command in (["ingest", talk], ["retrieve", "boat"], ["stats"]):
        status, out, err = run(*command, "--db", path)
        assert (status, out, err.count("\n")) == (2, "", 1), err
        assert str(path) in err
        assert path.read_bytes() == data


def test_somebody_elses_database_is_refused_and_kept(run, talk, tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE memories (recipe TEXT, stars INTEGER)")
    connection.close()
    status, _, err = run("ingest", talk, "--db", path, "--embedder", "none")
    assert (status, err.count("\n")) == (2, 1)
    assert str(path) in err


def test_a_folder_that_is_not_there_is_named(run, talk, tmp_path):
    status, _, err = run("ingest", talk, "--db", tmp_path / "no" / "m.db", "--embedder", "none")
    assert status == 2
    assert f"the folder {tmp_path / 'no'} does not exist" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["boat", "-k", 0], "-k must be at least 1, got 0"),
        (["boat", "-k", "many"], "Invalid value for '-k'"),
        ([" "], "the question must not be blank"),
        (["boat", "--embedder", "magic"], "--embedder must be auto, wordllama"),
    ],
)
def test_wrong_arguments_are_named(run, filled, arguments, message):
    status, out, err = run("retrieve", *arguments, "--db", filled)
    assert (status, out) == (2, "")
    assert message in err


def test_control_characters_never_reach_the_terminal(run, tmp_path, db):
    path = tmp_path / "evil.jsonl"
    path.write_text(json.dumps({"content": "boat\x1b[2J\ttab\nline"}) + "\n")
    run("ingest", path, "--db", db, "--embedder", "none")
    out = run("retrieve", "boat", "--db", db, "--embedder", "none")[1]
    assert out.count("\n") == 1
    assert out.endswith("\tboat [2J tab line\n")


def test_without_the_extra_one_sentence_says_what_to_install(run, monkeypatch):
    monkeypatch.delitem(sys.modules, "limbic.commands")
    monkeypatch.setitem(sys.modules, "typer", None)
    status, out, err = run("stats", "--db", "x")
    assert (status, out) == (2, "")
    assert err == (
        "limbic: the package 'typer' is needed for the command line: "
        'pip install "limbic-memory[cli]"\n'
    )


def test_without_wordllama_words_alone_answer_and_it_is_said(run, talk, db, monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    status, _, err = run("ingest", talk, "--db", db)
    assert status == 0
    assert "limbic-memory[local]" in err
    status, out, _ = run("retrieve", "hazelnuts", "--db", db)
    assert status == 0
    assert "azelnuts" in out.splitlines()[0]
    assert run("retrieve", "hazelnuts", "--db", db, "--embedder", "wordllama")[0] == 2


def test_stdin_is_a_file_and_a_closed_pipe_makes_no_noise(filled):
    command = [sys.executable, "-m", "limbic"]
    result = subprocess.run(
        [*command, "ingest", "-", "--db", filled, "--embedder", "none"],
        input=b"a line of text\n", capture_output=True, check=True,
    )  # fmt: skip
    assert b"1 memory stored" in result.stderr
    with subprocess.Popen(
        [*command, "stats", "--db", filled], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


def test_version_and_help(run):
    assert run("--version")[:2] == (0, f"{limbic.__version__}\n")
    out = run("--help")[1]
    assert all(command in out for command in ("demo", "ingest", "retrieve", "stats"))


GUIDE = Path(__file__).resolve().parent.parent / "doc" / "source" / "cli.rst"


@pytest.mark.skipif(not GUIDE.exists(), reason="needs the documentation's source")
def test_every_command_and_option_is_documented(run):
    guide = GUIDE.read_text()
    for command in ("demo", "ingest", "retrieve", "stats"):
        assert f"``limbic {command}" in guide
        options = re.findall(r"^ +(--?[a-z][a-z-]*)", run(command, "--help")[1], re.MULTILINE)
        assert [option for option in options if option not in guide and option != "--help"] == []
