"""The same bits from every kind of array, number of threads, build of the kernels and process."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gist_instances import KINDS, bits, problem

from limbic.diversity import _dispatch, gist_select, gist_select_full

UTILITIES = ("linear", "coverage", "facility_location")


def problems(max_n=90):
    for utility in UTILITIES:
        for number, kind in enumerate(KINDS):
            rng = np.random.default_rng([number, *utility.encode(), 11])
            yield problem(rng, max_n, kind, utility)


def digest(max_n=90, **more):
    """One figure for the answers to many problems."""
    answers = [bits(gist_select_full(r, u, **o, **more)) for r, u, o in problems(max_n)]
    return hashlib.sha256(json.dumps(answers).encode()).hexdigest()


def rows_and_answer(metric="euclidean"):
    # float16 holds the coordinates exactly, so that every dtype below means the same points.
    rows = np.random.default_rng(3).standard_normal((40, 33)).astype(np.float16)
    rows = rows.astype(np.float32)
    return rows, bits(gist_select_full(rows, k=6, lam=1.0, metric=metric))


def in_memmap(rows, folder):
    path = folder / "rows.npy"
    np.save(path, rows)
    return np.load(path, mmap_mode="r")


def read_only(rows):
    rows = rows.copy()
    rows.flags.writeable = False
    return rows


ARRAYS = {
    "float16": lambda rows, _: rows.astype(np.float16),
    "float64": lambda rows, _: rows.astype(np.float64),
    "longdouble": lambda rows, _: rows.astype(np.longdouble),
    "big-endian": lambda rows, _: rows.astype(">f4"),
    "big-endian float64": lambda rows, _: rows.astype(">f8"),
    "Fortran": lambda rows, _: np.asfortranarray(rows),
    "strided rows": lambda rows, _: np.repeat(rows, 2, axis=0)[::2],
    "strided columns": lambda rows, _: np.repeat(rows, 3, axis=1)[:, ::3],
    "reversed": lambda rows, _: rows[::-1].copy()[::-1],
    "read-only": lambda rows, _: read_only(rows),
    "memmap": in_memmap,
    "nested lists": lambda rows, _: rows.tolist(),
    "list of rows": lambda rows, _: list(rows),
    "tuple of tuples": lambda rows, _: tuple(map(tuple, rows.tolist())),
    "unaligned": lambda rows, _: (
        np.frombuffer(b"x" + rows.tobytes(), dtype=np.uint8, offset=1)
        .view(np.float32)
        .reshape(rows.shape)
    ),
}


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("kind", ARRAYS)
def test_array_kinds(kind, metric, tmp_path):
    rows, want = rows_and_answer(metric)
    given = ARRAYS[kind](rows, tmp_path)
    before = np.array(given, copy=True)
    assert bits(gist_select_full(given, k=6, lam=1.0, metric=metric)) == want
    assert np.array_equal(before, np.asarray(given))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float64, bool])
def test_whole_numbers(dtype):
    rows = np.random.default_rng(4).integers(0, 2, size=(20, 5)).astype(dtype)
    want = bits(gist_select_full(rows.astype(np.float32), k=4, metric="euclidean"))
    assert bits(gist_select_full(rows, k=4, metric="euclidean")) == want


def test_weights_of_every_kind():
    rows, _ = rows_and_answer()
    weights = np.random.default_rng(5).integers(0, 9, size=len(rows))
    want = bits(gist_select_full(rows, weights.astype(float), k=6))
    for given in (weights, weights.tolist(), weights.astype(">f8"), weights.astype(np.float32)):
        assert bits(gist_select_full(rows, given, k=6)) == want
    strided = np.repeat(weights.astype(float), 2)[::2]
    assert bits(gist_select_full(rows, strided, k=6)) == want


def test_coverage_of_every_kind():
    rows, _ = rows_and_answer()
    table = np.random.default_rng(6).integers(0, 50, size=(len(rows), 4))
    options = {"k": 6, "utility": "coverage"}
    want = bits(gist_select_full(rows, table.tolist(), **options))
    for given in (table, list(table), tuple(map(tuple, table.tolist())), table.astype(np.uint32)):
        assert bits(gist_select_full(rows, given, **options)) == want


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_input_is_never_written_to(metric):
    rows, _ = rows_and_answer()
    weights = np.random.default_rng(5).random(len(rows))
    kept = rows.tobytes(), weights.tobytes()
    gist_select(rows, weights, k=6, metric=metric)
    assert (rows.tobytes(), weights.tobytes()) == kept
    assert rows.flags.writeable
    assert weights.flags.writeable


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_numbers_of_threads(workers):
    assert digest(max_n=300, workers=workers) == digest(max_n=300)


def test_repeated_calls():
    assert len({digest() for _ in range(3)}) == 1


def test_calls_from_several_threads_at_once():
    given = list(problems(120))
    want = [bits(gist_select_full(r, u, **o)) for r, u, o in given]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda p: bits(gist_select_full(p[0], p[1], **p[2])), given * 3))
    assert found == want * 3


# In a fresh interpreter: other builds, forks, Ctrl-C -------------------------------------------


def run_python(code, **environment):
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        check=False,
    )


DIGEST = f"""
import importlib.util
spec = importlib.util.spec_from_file_location("invariance", {__file__!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(module._dispatch.ISA, module.digest())
"""


@pytest.mark.parametrize("isa", _dispatch.available())
def test_builds_of_the_kernels(isa):
    ran = run_python(DIGEST, LIMBIC_DIVERSITY_ISA=isa)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == [isa, digest()]


def test_an_unknown_build_is_refused_by_name():
    ran = run_python("import limbic.diversity", LIMBIC_DIVERSITY_ISA="mmx")
    assert ran.returncode != 0
    assert "LIMBIC_DIVERSITY_ISA" in ran.stderr
    assert "mmx" in ran.stderr


FORK = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
import numpy as np
from limbic.diversity import gist_select
rows = np.random.default_rng(0).standard_normal((600, 20)).astype(np.float32)
want = gist_select(rows, k=5, workers=2).tolist()
child = os.fork()
if child == 0:
    os._exit(0 if gist_select(rows, k=5, workers=2).tolist() == want else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_selects_too():
    ran = run_python(FORK)
    assert ran.returncode == 0, ran.stderr


LONG_WORK = {
    "exact diameter": "gist_select(rows, k=5, workers=WORKERS)",
    "facility location": "gist_select(rows, k=5, utility='facility_location', workers=WORKERS)",
    "exhaustive thresholds": "gist_select(rows, k=5, exhaustive_thresholds=True, workers=WORKERS)",
}


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to a child there")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("work", LONG_WORK)
def test_ctrl_c_stops_long_work(work, workers):
    code = (
        "import numpy as np\n"
        "from limbic.diversity import gist_select\n"
        "rows = np.random.default_rng(0).standard_normal((40_000, 512), dtype=np.float32)\n"
        "print('ready', flush=True)\n"
        f"{LONG_WORK[work].replace('WORKERS', str(workers))}\n"
        "print('finished')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        try:
            process.communicate(timeout=0.7)  # well inside the work
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail("Ctrl-C was not noticed within 30 seconds")
    assert "finished" not in out
    assert "KeyboardInterrupt" in err


# Arithmetic of the kernels ------------------------------------------------------------------


def test_no_multiplication_is_fused_with_an_addition():
    """Two products in one lane whose sum rounds differently when the first rounding is left out."""
    row = np.zeros((2, 32), dtype=np.float32)
    row[0, 0] = 1.0
    row[0, 16] = np.float32(float.fromhex("0x1.001002p+0"))
    squared = np.array([0x40000802], dtype=np.uint32).view(np.float32)[0]
    points = _dispatch.Points(row, 0)
    assert points.pair(0, 1) == float(np.sqrt(squared))


@pytest.mark.skipif(shutil.which("objdump") is None, reason="needs objdump")
@pytest.mark.parametrize("isa", _dispatch.available())
def test_built_objects_hold_no_fused_instruction(isa):
    module = _dispatch._load(isa)
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", module.__file__],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "ret" in listing  # it was disassembled at all
    fused = [line for line in listing.splitlines() if "fmadd" in line or "fmsub" in line]
    assert fused == []
