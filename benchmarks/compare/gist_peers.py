#!/usr/bin/env python3
"""GIST against its peers: the same arrays, run in turn, all cores for each.

    python3 benchmarks/compare/gist_peers.py            every work that its peers can finish
    python3 benchmarks/compare/gist_peers.py --quick    small sizes; checks that the script works
    python3 benchmarks/compare/gist_peers.py --only NAME [--repeats N]

For each work: the median seconds of limbic and of divsel, the median of the ratios of paired runs
(each pair back to back, in alternating order), the goal and whether it is reached, and the memory
that a call adds to a process of its own. gist-select is timed where it solves the same problem.
Whether limbic and divsel agree to the last bit is checked on every pair of results.

Needs ``divsel`` and, if its column is wanted, ``gist-select`` beside limbic.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt

from limbic.diversity import gist_path, gist_select_full

Rows = npt.NDArray[np.float32]
FIELDS = {"f": "f_value", "g": "g_value"} | {n: n for n in ("div", "threshold", "d_max", "stage")}


# Data ---------------------------------------------------------------------------------------


def isotropic(n: int, dim: int) -> Rows:
    """Draw from N(0, 1): data on which every method is equally good."""
    return np.random.default_rng(0).standard_normal((n, dim), dtype=np.float32)


def clustered(n: int, dim: int) -> Rows:
    """Make points of low effective rank, as real embeddings are.

    50 centres N(0, 1) in 16 latent dimensions, points at 0.3 N(0, 1) around them, turned into dim
    dimensions by a random orthonormal basis, plus noise of 0.01 N(0, 1) in each of them.
    """
    rng = np.random.default_rng(1)
    latent = min(16, dim)
    centres = rng.standard_normal((50, latent))
    points = centres[rng.integers(0, 50, size=n)] + 0.3 * rng.standard_normal((n, latent))
    basis = np.linalg.qr(rng.standard_normal((dim, latent)))[0].T
    return (points @ basis + 0.01 * rng.standard_normal((n, dim))).astype(np.float32)


def one_point(n: int, dim: int) -> Rows:
    """Repeat one point."""
    return np.repeat(isotropic(1, dim), n, axis=0)


def lattice(n: int, dim: int) -> Rows:
    """Draw coordinates from {0, 1, 2, 3}: distances tie in thousands."""
    return np.random.default_rng(2).integers(0, 4, size=(n, dim)).astype(np.float32)


def random_weights(n: int) -> Any:
    return np.random.default_rng(3).random(n)


def no_table(n: int) -> Any:
    return None


def item_lists(n: int) -> Any:
    """Draw thirty items a row, of 200,000."""
    return np.random.default_rng(4).integers(0, 200_000, size=(n, 30)).tolist()


# Works ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Work:
    """One problem, and the median ratio divsel / limbic that is aimed at."""

    name: str
    n: int
    dim: int
    k: int
    data: Callable[[int, int], Rows]
    goal: float | None = None
    goal_seconds: float | None = None
    table: Callable[[int], Any] = random_weights
    metric: str = "cosine"
    utility: str = "linear"
    more: dict[str, Any] = field(default_factory=dict)
    divsel_finishes: bool = True

    def problem(self) -> tuple[Rows, Any, dict[str, Any]]:
        options = {"k": self.k, "lam": 1.0, "metric": self.metric, "utility": self.utility}
        rows = np.ascontiguousarray(self.data(self.n, self.dim))
        return rows, self.table(self.n), options | self.more

    def scaled_down(self) -> Work:
        """Return the same work at a size that takes milliseconds."""
        n = min(self.n, 300)
        values = {**vars(self), "n": n, "dim": min(self.dim, 32), "k": min(self.k, n)}
        return Work(**(values | {"divsel_finishes": True}))


APPROX = {"diameter": "approx"}
FACILITY = {"utility": "facility_location", "table": no_table}
COVERAGE = {"utility": "coverage", "table": item_lists}

WORKS = [
    Work("exact-cosine", 10_000, 384, 10, isotropic, goal=8),
    Work("exact-cosine-clustered", 10_000, 384, 10, clustered, goal=30),
    Work("exact-euclidean", 10_000, 384, 10, isotropic, goal=7, metric="euclidean"),
    Work("exact-euclidean-clustered", 10_000, 384, 10, clustered, goal=30, metric="euclidean"),
    Work("approx-k10", 10_000, 384, 10, isotropic, goal=50, more=APPROX),
    Work("approx-k100", 10_000, 384, 100, isotropic, goal=60, more=APPROX),
    Work("approx-100k", 100_000, 384, 10, isotropic, goal=30, more=APPROX),
    Work("facility-2k", 2_000, 64, 20, isotropic, goal=300, **FACILITY),
    Work(
        "facility-10k",
        10_000,
        384,
        10,
        isotropic,
        goal_seconds=3,
        divsel_finishes=False,
        **FACILITY,
    ),
    Work("exhaustive", 400, 64, 20, isotropic, goal=500, more={"exhaustive_thresholds": True}),
    Work("coverage", 20_000, 64, 50, isotropic, goal=10, **COVERAGE),
    Work("chat-768", 50, 768, 5, isotropic, goal=4),
    Work("chat-48", 60, 48, 8, isotropic, goal=4),
    Work("exact-100k", 100_000, 384, 10, isotropic, goal_seconds=60, divsel_finishes=False),
    Work(
        "exact-100k-clustered", 100_000, 384, 10, clustered, goal_seconds=5, divsel_finishes=False
    ),
    Work(
        "dim2-200k",
        200_000,
        2,
        10,
        isotropic,
        goal_seconds=1,
        metric="euclidean",
        divsel_finishes=False,
    ),
    Work(
        "dim8-200k",
        200_000,
        8,
        10,
        isotropic,
        goal_seconds=1,
        metric="euclidean",
        divsel_finishes=False,
    ),
    Work("all-equal", 5_000, 64, 10, one_point, goal=1, metric="euclidean"),
    Work("lattice", 5_000, 16, 10, lattice, goal=1, metric="euclidean"),
    Work("equal-weights", 5_000, 64, 50, clustered, goal=1, table=no_table),
    Work("k-is-n", 2_000, 64, 2_000, isotropic, goal=1),
]


# Peers ------------------------------------------------------------------------------------------


def run_limbic(work: Work) -> Callable[[], Any]:
    rows, table, options = work.problem()
    return lambda: gist_select_full(rows, table, **options)


def run_divsel(work: Work) -> Callable[[], Any]:
    import divsel

    rows, table, options = work.problem()
    return lambda: divsel.gist_select_full(rows, table, **options)


def run_gist_select(work: Work) -> Callable[[], Any] | None:
    """Return None for what only limbic does: all but the linear utility on the grid."""
    if work.utility != "linear" or work.more:
        return None
    import gist as peer

    rows, table, options = work.problem()
    weights = np.ones(work.n) if table is None else table
    distance = peer.CosineDistance() if work.metric == "cosine" else peer.EuclideanDistance()
    return lambda: peer.gist(
        rows,
        peer.LinearUtility(weights),
        distance,
        options["k"],
        lam=options["lam"],
        eps=0.1,
        n_jobs=-1,
    )


PEERS = {"limbic": run_limbic, "divsel": run_divsel, "gist-select": run_gist_select}


def agree(ours: Any, theirs: dict[str, Any]) -> bool:
    same = ours.selected.tolist() == theirs["selected"]
    return same and all(getattr(ours, name) == theirs[other] for name, other in FIELDS.items())


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = call()
    return time.perf_counter() - started, result


@dataclass
class Measured:
    limbic: float
    divsel: float | None = None
    ratio: float | None = None
    spread: tuple[float, float] | None = None
    equal: bool | None = None
    gist_select: float | None = None


def measure(work: Work, repeats: int, others: set[str]) -> Measured:
    """Time one work; short ones are called in batches so that the clock can see them."""
    ours = run_limbic(work)
    first, result = seconds(ours)
    batch = max(1, min(200, int(0.02 / max(first, 1e-6))))

    def batched(call: Callable[[], Any]) -> float:
        taken, _ = seconds(lambda: [call() for _ in range(batch)])
        return taken / batch

    found = Measured(limbic=first)
    if "divsel" in others and work.divsel_finishes:
        theirs = run_divsel(work)
        warm, answer = seconds(theirs)
        found.equal = agree(result, answer)
        pairs = []
        for number in range(max(2, repeats if warm < 5 else 2)):
            calls = [ours, theirs] if number % 2 == 0 else [theirs, ours]
            times = {call: batched(call) for call in calls}
            pairs.append((times[ours], times[theirs]))
        ratios = [b / a for a, b in pairs]
        found.limbic = statistics.median(a for a, _ in pairs)
        found.divsel = statistics.median(b for _, b in pairs)
        found.ratio = statistics.median(ratios)
        found.spread = min(ratios), max(ratios)
    else:
        found.limbic = statistics.median(batched(ours) for _ in range(repeats if first < 5 else 1))
    if "gist-select" in others and work.divsel_finishes:
        other = run_gist_select(work)
        if other is not None:
            found.gist_select, _ = seconds(other)
    return found


def peak_memory(work: Work, peer: str, quick: bool) -> float | None:
    """MiB that one call adds to a process that holds the data already."""
    command = [sys.executable, __file__, "--memory-of", peer, "--only", work.name]
    ran = subprocess.run(
        [*command, *(["--quick"] if quick else [])], capture_output=True, text=True, check=False
    )
    return json.loads(ran.stdout) if ran.returncode == 0 else None


def print_memory_of(work: Work, peer: str) -> None:
    call = PEERS[peer](work)
    if call is None:
        raise SystemExit(f"{peer} does not solve {work.name}")
    PEERS[peer](work.scaled_down())()  # loads what a first call loads
    before = resident_now()
    call()
    print(json.dumps((peak_resident() - before) / 2**20))


STATUS = Path("/proc/self/status")


def resident_now() -> float:
    """Return the bytes held; where Linux allows it, the peak starts anew from here."""
    if not STATUS.exists():
        return peak_resident()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return status_of("VmRSS")


def peak_resident() -> float:
    if STATUS.exists():
        return status_of("VmHWM")
    unit = 1 if sys.platform == "darwin" else 2**10
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def status_of(name: str) -> float:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(name))
    return float(line.split()[1]) * 2**10


# Ablations: what each trick buys, by taking it away ---------------------------------------------


@contextlib.contextmanager
def without_jump() -> Iterator[None]:
    """Run the greedy pass of every threshold."""
    from limbic.diversity import _select

    with mock.patch.object(_select, "_reach", return_value=-1.0):
        yield


ABLATIONS: dict[str, tuple[str, Callable[[], contextlib.AbstractContextManager[None]]]] = {
    "threshold jump": ("approx-k10", without_jump),
}


def print_ablations(quick: bool) -> None:
    print("\nAblations: the same answer with one trick off, and how much longer it takes")
    works = {work.name: work for work in WORKS}
    for trick, (name, off) in ABLATIONS.items():
        work = works[name].scaled_down() if quick else works[name]
        call = run_limbic(work)
        with_it = [seconds(call) for _ in range(3)]
        with off():
            without_it = [seconds(call) for _ in range(3)]
        assert with_it[0][1] == without_it[0][1], trick
        ratio = statistics.median(t for t, _ in without_it) / statistics.median(
            t for t, _ in with_it
        )
        print(f"  without the {trick:20} {name:24} {ratio:8.2f}x")


def print_grid(quick: bool) -> None:
    """Compare a 10 x 20 grid of (k, lam) with one run for its largest k."""
    work = Work("grid", 10_000, 384, 100, clustered, more=APPROX)
    rows, table, options = (work.scaled_down() if quick else work).problem()
    largest = options.pop("k")
    options.pop("lam")
    ks = np.linspace(1, largest, 10).astype(int).tolist()
    lams = np.linspace(0, 4, 20).tolist()
    once = [
        seconds(lambda: gist_select_full(rows, table, k=largest, lam=1.0, **options))[0]
        for _ in range(3)
    ]
    grid = [seconds(lambda: gist_path(rows, table, k=ks, lam=lams, **options))[0] for _ in range(3)]
    ratio = statistics.median(grid) / statistics.median(once)
    verdict = "reached" if ratio <= 2 else "missed"
    print(f"\ngist_path, 10 x 20 grid: {ratio:.2f} times one run (goal: at most 2, {verdict})")


# Report -----------------------------------------------------------------------------------------


def print_setting(others: set[str]) -> None:
    versions = {"limbic": "limbic-memory"} | {name: name for name in sorted(others)}
    named = [f"{name} {importlib.metadata.version(dist)}" for name, dist in versions.items()]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"{', '.join(named)}; numpy {np.__version__}, Python {platform.python_version()}")
    from limbic.diversity import _dispatch

    print(f"{platform.machine()}, {cores} cores, kernels {_dispatch.ISA}; float32, lam 1, eps 0.1")


def shown(value: float | None, form: str = ".4g") -> str:
    return "-" if value is None else format(value, form)


def verdict(work: Work, found: Measured) -> tuple[str, str]:
    """Return the goal in words, and whether it is reached."""
    if work.goal is not None:
        if found.ratio is None:
            return f"{work.goal:g}x", "not measured"
        return f"{work.goal:g}x", "reached" if found.ratio >= work.goal else "missed"
    if work.goal_seconds is not None:
        reached = found.limbic <= work.goal_seconds
        return f"{work.goal_seconds:g} s", "reached" if reached else "missed"
    return "-", "-"


def available_peers() -> set[str]:
    found = set()
    for name in ("divsel", "gist-select"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            importlib.metadata.version(name)
            found.add(name)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--only", metavar="NAME", help="one work, by its name")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-memory", action="store_true", help="leave the memory out")
    parser.add_argument("--memory-of", choices=PEERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    works = [work for work in WORKS if options.only in (None, work.name)]
    if not works:
        parser.error(f"no work is named {options.only}; there are {[w.name for w in WORKS]}")
    if options.quick:
        works = [work.scaled_down() for work in works]
    if options.memory_of:
        print_memory_of(works[0], options.memory_of)
        return 0
    others = available_peers()
    print_setting(others)
    if options.quick:
        print("sizes are scaled down: the goals do not apply")
    heads = f"{'work':26}{'n':>8}{'dim':>5}{'k':>6}  {'data':10}{'limbic s':>10}{'divsel s':>10}"
    print(f"{heads}{'ratio':>9}  {'of pairs':17}{'goal':>6} {'':12} same  gist-select s  added MiB")
    unequal = 0
    for work in works:
        found = measure(work, 2 if options.quick else options.repeats, others)
        goal, reached = ("-", "-") if options.quick else verdict(work, found)
        unequal += found.equal is False
        spread = "" if found.spread is None else "{:.2f} to {:.2f}".format(*found.spread)
        memory = {}
        if not options.no_memory:
            wanted = ["limbic", *(["divsel"] if found.divsel is not None else [])]
            memory = {peer: peak_memory(work, peer, options.quick) for peer in wanted}
        added = ", ".join(f"{peer} {shown(value, '.0f')}" for peer, value in memory.items())
        print(
            f"{work.name:26}{work.n:8}{work.dim:5}{work.k:6}  {work.data.__name__:10}"
            f"{shown(found.limbic):>10}{shown(found.divsel):>10}{shown(found.ratio, '.2f'):>9}  "
            f"{spread:17}{goal:>6} {reached:12} "
            f"{'-' if found.equal is None else 'yes' if found.equal else 'NO':4}  "
            f"{shown(found.gist_select):13}  {added}",
            flush=True,
        )
    if options.only is None:
        print_ablations(options.quick)
        print_grid(options.quick)
    return 1 if unequal else 0


if __name__ == "__main__":
    sys.exit(main())
