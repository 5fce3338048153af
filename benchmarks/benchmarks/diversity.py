"""Selections with GIST: time, memory, work done, and the bits of the answer."""

import hashlib
from unittest import mock

import numpy as np

from limbic.diversity import _utilities, gist_path, gist_select_full


def made_rows(n, dim):
    """Points around 50 directions: neither isotropic nor degenerate."""
    rng = np.random.default_rng(20260601)
    centres = rng.standard_normal((50, dim))
    rows = centres[rng.integers(0, 50, size=n)] + 0.4 * rng.standard_normal((n, dim))
    return rows.astype(np.float32)


# name: n, dim, options
WORKS = {
    "exact": (4_000, 384, {"k": 10}),
    "exact euclidean": (4_000, 384, {"k": 10, "metric": "euclidean"}),
    "exact dim 8": (20_000, 8, {"k": 10, "metric": "euclidean"}),
    "approx k 10": (10_000, 384, {"k": 10, "diameter": "approx"}),
    "approx k 100": (10_000, 384, {"k": 100, "diameter": "approx"}),
    "facility location": (2_000, 64, {"k": 20, "utility": "facility_location"}),
    "coverage": (10_000, 64, {"k": 50, "utility": "coverage", "diameter": "approx"}),
    "exhaustive": (400, 64, {"k": 20, "exhaustive_thresholds": True}),
    "chat": (60, 48, {"k": 8}),
}
# What divsel needs more than a few seconds for is left to compare/gist_peers.py.
TOO_LONG_FOR_DIVSEL = {"facility location", "exhaustive"}


def problem(work):
    n, dim, options = WORKS[work]
    rng = np.random.default_rng(7)
    table = rng.random(n)
    if options.get("utility") == "coverage":
        table = rng.integers(0, 50_000, size=(n, 30)).tolist()
    elif options.get("utility") == "facility_location":
        table = None
    return made_rows(n, dim), table, {"lam": 1.0, **options}


class Select:
    """One selection, by limbic and by the Rust package where it is installed."""

    params = (tuple(WORKS), ["limbic", "divsel"])
    param_names = ("work", "peer")
    timeout = 300

    def setup(self, work, peer):
        self.problem = problem(work)
        self.select = gist_select_full
        if peer == "divsel":
            if work in TOO_LONG_FOR_DIVSEL:
                raise NotImplementedError
            try:
                import divsel
            except ImportError:
                raise NotImplementedError from None
            self.select = divsel.gist_select_full

    def run(self):
        rows, table, options = self.problem
        return self.select(rows, table, **options)

    def time_select(self, work, peer):
        self.run()

    def peakmem_select(self, work, peer):
        self.run()


class Work:
    """What a selection does and answers: figures that only a change of the code can move."""

    params = tuple(WORKS)
    param_names = ("work",)

    def track_greedy_runs(self, work):
        """Count the passes over the points, the first greedy one included."""
        rows, table, options = problem(work)
        runs = 0
        for objective in (_utilities.LinearObjective, _utilities.LazyObjective):
            original = objective.run

            def counted(self, k, d, original=original):
                nonlocal runs
                runs += 1
                return original(self, k, d)

            patch = mock.patch.object(objective, "run", counted)
            patch.start()
        try:
            gist_select_full(rows, table, **options)
        finally:
            mock.patch.stopall()
        return runs

    def track_digest(self, work):
        """Return 48 bits of a hash of the answer; any change of any bit shows."""
        rows, table, options = problem(work)
        answer = gist_select_full(rows, table, **options)
        numbers = [answer.f, answer.g, answer.div, answer.threshold, answer.d_max]
        content = repr((answer.selected.tolist(), answer.stage, [x.hex() for x in numbers]))
        return int(hashlib.sha256(content.encode()).hexdigest()[:12], 16)


class Threads:
    """The longest kernel by number of threads."""

    params = (1, 2)
    param_names = ("workers",)

    def setup(self, workers):
        self.rows = made_rows(6_000, 384)

    def time_exact_diameter(self, workers):
        gist_select_full(self.rows, k=2, workers=workers)


class Path:
    """A grid of ten k and twenty lam, to be held against one run for its largest k."""

    def setup(self):
        self.rows, self.table, options = problem("approx k 100")
        self.options = {name: options[name] for name in ("diameter",)}

    def time_one_run(self):
        gist_select_full(self.rows, self.table, k=100, lam=1.0, **self.options)

    def time_grid(self):
        gist_path(
            self.rows,
            self.table,
            k=range(10, 101, 10),
            lam=np.linspace(0.0, 4.0, 20).tolist(),
            **self.options,
        )
