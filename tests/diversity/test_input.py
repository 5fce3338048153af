"""What is accepted, what is refused, in which words and in which order."""

import inspect
import pickle
import re

import numpy as np
import pytest

from limbic import diversity
from limbic.diversity import F32_EPSILON, DiversityError, gist_path, gist_select, gist_select_full

SQUARE = [[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]]
HUGE_INTEGERS = [2**63, 2**200, -(2**63), -(2**64)]
MACHINE_WORDS = re.compile(r"ssize_t|C long|int64|too large to convert|overflow", re.IGNORECASE)


def refusal(code, *arguments, **options):
    """The message of the DiversityError that a call ends in, whose code must be the given one."""
    messages = set()
    for function in (gist_select, gist_select_full, gist_path):
        with pytest.raises(DiversityError) as caught:
            function(*arguments, **{"k": 2, "lam": 0.5} | options)
        assert caught.value.code == code
        messages.add(str(caught.value))
    assert len(messages) == 1
    return messages.pop()


# The matrix -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 0), (5, 0)])
def test_no_columns(shape):
    assert "dim" in refusal("ZeroDim", np.empty(shape))


@pytest.mark.parametrize("empty", [[], np.empty((0, 3)), ()])
def test_no_rows(empty):
    assert "vectors" in refusal("EmptyInput", empty)


def test_ragged_rows():
    assert "vectors" in refusal("LengthNotMultipleOfDim", [[1.0, 2.0], [3.0]])


def test_one_vector_alone_is_told_how_to_become_a_row():
    assert "reshape" in refusal("LengthNotMultipleOfDim", np.ones(3))


def test_too_many_axes():
    assert "(2, 2, 2)" in refusal("LengthNotMultipleOfDim", np.ones((2, 2, 2)))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_first_coordinate_that_is_not_finite(bad):
    rows = np.ones((4, 3))
    rows[2, 1] = bad
    rows[3, 0] = np.nan
    message = refusal("NonFinite", rows)
    assert "row 2" in message
    assert "column 1" in message


def test_float64_beyond_float32_is_not_finite():
    assert "row 1, column 0" in refusal("NonFinite", [[1.0], [1e39]])


@pytest.mark.parametrize("row", [[0.0, 0.0], [1e-30, 0.0], [3e38, 3e38]])
def test_norms_of_zero_or_infinity_under_the_cosine_only(row):
    """Squares that underflow or overflow in float32 leave no direction."""
    rows = [[1.0, 0.0], row, [0.0, 0.0]]
    assert "row 1" in refusal("ZeroNormRow", rows)
    gist_select(rows, k=2, metric="euclidean")


@pytest.mark.parametrize(
    "vectors",
    [
        [["a", "b"]],
        [[1 + 2j, 0j]],
        [[None, 1.0]],
        "text",
        None,
        np.array([["2020-01-01"]], dtype="datetime64[D]"),
    ],
)
def test_matrices_of_something_else(vectors):
    with pytest.raises(TypeError, match="vectors"):
        gist_select(vectors, k=1)


def test_masked_and_sparse_matrices():
    with pytest.raises(TypeError, match="masked"):
        gist_select(np.ma.masked_array(SQUARE, mask=False), k=1)
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="toarray"):
        gist_select(sparse.csr_matrix(SQUARE), k=1)


# k, eps, lam ------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, -1, -(2**63), -(2**64)])
def test_k_below_one(k):
    assert str(k) in refusal("InvalidK", SQUARE, k=k)


@pytest.mark.parametrize("k", [2**63, 2**200])
def test_k_of_any_size_is_clamped(k):
    for metric in ("cosine", "euclidean"):
        assert sorted(gist_select(SQUARE, k=k, lam=0.0, metric=metric).tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("k", [True, False, 1.0, "1", None, np.bool_(True), np.float32(2)])
def test_k_of_another_type(k):
    with pytest.raises(TypeError, match="k must be an integer"):
        gist_select(SQUARE, k=k)


def test_k_may_be_a_numpy_integer():
    assert gist_select(SQUARE, k=np.uint8(2)).tolist() == gist_select(SQUARE, k=2).tolist()


@pytest.mark.parametrize(
    "eps", [0.0, -0.5, 1.0000001, 1.5, np.nan, np.inf, 1e-30, 1e-16, 1e-8, F32_EPSILON / 2]
)
def test_eps_outside_of_its_range(eps):
    assert "2**-23" in refusal("InvalidEps", SQUARE, eps=eps)


def test_ends_of_the_range_of_eps():
    assert gist_select(SQUARE, k=2, eps=1.0).size == 2
    assert gist_select(SQUARE, k=2, eps=1).size == 2
    # Coincident points have no thresholds, so that the 139 million of this eps are not visited.
    found = gist_select_full([[1.0]] * 2, k=1, eps=F32_EPSILON, metric="euclidean")
    assert found.stage == "greedy"


@pytest.mark.parametrize("lam", [-1.0, -1e-300, np.nan, np.inf, -np.inf, 10**400])
def test_lam_outside_of_its_range(lam):
    assert "lam" in refusal("InvalidLambda", SQUARE, lam=lam)


@pytest.mark.parametrize("name", ["eps", "lam"])
@pytest.mark.parametrize("value", ["0.5", True, 1j, b"1"])
def test_numbers_of_another_type(name, value):
    with pytest.raises(TypeError, match=f"{name} must be a number"):
        gist_select(SQUARE, k=2, **{name: value})


# Other options ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("metric", ["cosine", "euclidean"]),
        ("utility", ["linear", "coverage", "facility_location"]),
        ("diameter", ["exact", "approx"]),
    ],
)
def test_unknown_choices_are_answered_with_the_known_ones(name, choices):
    with pytest.raises(ValueError, match=name) as caught:
        gist_select(SQUARE, k=2, **{name: "manhattan"})
    assert "manhattan" in str(caught.value)
    for choice in choices:
        assert choice in str(caught.value)
    with pytest.raises(TypeError, match=name):
        gist_select(SQUARE, k=2, **{name: 3})


@pytest.mark.parametrize("diameter", ["exact", "approx"])
def test_diameter_sweeps(diameter):
    for refused in (-1, 2**200):
        with pytest.raises(ValueError, match="diameter_sweeps"):
            gist_select(SQUARE, k=2, diameter=diameter, diameter_sweeps=refused)
    for refused in (True, 1.5, "3"):
        with pytest.raises(TypeError, match="diameter_sweeps"):
            gist_select(SQUARE, k=2, diameter=diameter, diameter_sweeps=refused)
    gist_select(SQUARE, k=2, diameter=diameter, diameter_sweeps=2**62)


def test_defaults_of_diameter_sweeps():
    for seed in range(20):
        rows = np.random.default_rng(seed).standard_normal((50, 3))

        def found(rows=rows, **options):
            return gist_select_full(rows, k=3, metric="euclidean", diameter="approx", **options)

        assert found() == found(diameter_sweeps=3) == found(diameter_sweeps=None)
        assert found(diameter_sweeps=0) == found(diameter_sweeps=1)
        assert found(diameter_sweeps=50) == found(diameter_sweeps=2**62)
        exact = gist_select_full(rows, k=3, metric="euclidean").d_max
        assert exact / 2 <= found(diameter_sweeps=1).d_max <= exact


@pytest.mark.parametrize("workers", [0, -1])
def test_workers_below_one(workers):
    with pytest.raises(ValueError, match="workers"):
        gist_select(SQUARE, k=2, workers=workers)


@pytest.mark.parametrize("workers", [True, 1.0, "2"])
def test_workers_of_another_type(workers):
    with pytest.raises(TypeError, match="workers"):
        gist_select(SQUARE, k=2, workers=workers)


def test_more_workers_than_blocks():
    assert gist_select(SQUARE, k=2, workers=10**9).size == 2


@pytest.mark.parametrize("value", [1, None, "yes"])
def test_exhaustive_thresholds_is_yes_or_no(value):
    with pytest.raises(TypeError, match="exhaustive_thresholds"):
        gist_select(SQUARE, k=2, exhaustive_thresholds=value)


@pytest.mark.parametrize("number", HUGE_INTEGERS)
@pytest.mark.parametrize("name", ["k", "diameter_sweeps", "workers"])
def test_no_integer_is_answered_in_terms_of_the_machine(name, number):
    message = ""
    try:
        gist_select(SQUARE, **{"k": 1, name: number})
    except ValueError as error:
        message = str(error)
    assert not MACHINE_WORDS.search(message)


# Utilities --------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0, 3, 5])
def test_number_of_weights(length):
    assert "4" in refusal("WeightsLength", SQUARE, np.ones(length))


@pytest.mark.parametrize("bad", [-1.0, -1e-300, np.nan, np.inf])
def test_weights_outside_of_their_range(bad):
    assert "index 2" in refusal("InvalidWeight", SQUARE, [1.0, 1.0, bad, -1.0])


@pytest.mark.parametrize(
    "weights", [["a"] * 4, [1j] * 4, np.ones((4, 1)), 3.0, [[1.0], [], [], []]]
)
def test_weights_of_another_type(weights):
    with pytest.raises(TypeError, match="utilities"):
        gist_select(SQUARE, weights, k=2)


def test_no_weights_are_weights_of_one():
    assert gist_select_full(SQUARE, k=3) == gist_select_full(SQUARE, np.ones(4), k=3)


@pytest.mark.parametrize("count", [0, 3, 5])
def test_number_of_item_lists(count):
    assert "4" in refusal("CoverageLength", SQUARE, [[1]] * count, utility="coverage")


@pytest.mark.parametrize("item", [-1, 2**32, 2**63, 2**70, -(2**70)])
def test_items_outside_of_their_range(item):
    table = [[1], [2], [3, item], [4]]
    message = refusal("CoverageItemOutOfRange", SQUARE, table, utility="coverage")
    assert "row 2" in message
    assert "2**32 - 1" in message


@pytest.mark.parametrize(
    "table", [None, 5, "text", [1, 2, 3, 4], [[1.0]] * 4, [["a"]] * 4, [[True]] * 4, [[None]] * 4]
)
def test_item_lists_of_another_type(table):
    with pytest.raises(TypeError, match="utilities"):
        gist_select(SQUARE, table, k=2, utility="coverage")


def test_items_need_not_be_dense():
    """The largest id decides nothing: memory is that of the ids that occur."""
    far = [[0, 2**32 - 1], [2**32 - 2], [7], []]
    near = [[0, 3], [2], [1], []]
    options = {"k": 3, "utility": "coverage"}
    assert gist_select_full(SQUARE, far, **options) == gist_select_full(SQUARE, near, **options)


def test_repeated_items_count_once_and_rows_may_be_empty():
    repeated = [[1, 1, 1, 2], [], [2, 2], [3]]
    once = [[1, 2], [], [2], [3]]
    options = {"k": 4, "lam": 0.0, "utility": "coverage"}
    found = gist_select_full(SQUARE, repeated, **options)
    assert found == gist_select_full(SQUARE, once, **options)
    assert found.g == 3.0


def test_coverage_counted_by_hand():
    line = [[0.0], [1.0], [2.0], [10.0]]
    table = [[0, 1, 2], [2, 3], [3, 4], [0, 1]]
    options = {"lam": 0.0, "metric": "euclidean", "utility": "coverage"}
    found = gist_select_full(line, table, k=2, **options)
    assert (found.selected.tolist(), found.g) == ([0, 2], 5.0)
    found = gist_select_full(line, table, k=1, **options)
    assert (found.selected.tolist(), found.g) == ([0], 3.0)


def test_nothing_to_cover_leaves_the_widest_pair():
    line = [[-3.0], [0.0], [4.0], [1.0]]
    found = gist_select_full(line, [[]] * 4, k=2, metric="euclidean", utility="coverage")
    assert found.selected.tolist() == [0, 2]
    assert (found.g, found.div) == (0.0, 7.0)


def test_facility_location_takes_no_table():
    with pytest.raises(ValueError, match="utilities"):
        gist_select(SQUARE, np.ones(4), k=2, utility="facility_location")


# Order of the checks: the matrix, then k, eps, lam, then the table --------------------------------

FAULTS = [
    ("ZeroNormRow", {"vectors": [[0.0, 0.0], [1.0, 0.0]]}),
    ("InvalidK", {"k": 0}),
    ("InvalidEps", {"eps": 0.0}),
    ("InvalidLambda", {"lam": -1.0}),
    ("WeightsLength", {"utilities": [1.0]}),
]


@pytest.mark.parametrize("first", range(len(FAULTS)))
def test_the_first_fault_in_order_is_reported(first):
    arguments = {"vectors": [[0.0, 1.0], [1.0, 0.0]], "utilities": None, "k": 1}
    for _, fault in FAULTS[first:]:
        arguments |= fault
    with pytest.raises(DiversityError) as caught:
        gist_select_full(**arguments)
    assert caught.value.code == FAULTS[first][0]


def test_order_within_the_matrix():
    not_finite_after_a_zero_row = [[0.0, 0.0], [np.nan, 1.0]]
    refusal("NonFinite", not_finite_after_a_zero_row)
    refusal("ZeroDim", np.empty((0, 0)))


def test_order_within_the_weights():
    refusal("WeightsLength", SQUARE, [-1.0])
    refusal("CoverageLength", SQUARE, [[-1]], utility="coverage")


def test_errors_survive_pickling():
    with pytest.raises(DiversityError) as caught:
        gist_select(SQUARE, k=0)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.code, str(again)) == (
        DiversityError,
        "InvalidK",
        str(caught.value),
    )
    assert isinstance(again, ValueError)


# The results --------------------------------------------------------------------------------------


def test_short_form_is_the_selection_of_the_full_form():
    rows = np.random.default_rng(0).standard_normal((30, 4))
    for k in (1, 3, 30):
        full = gist_select_full(rows, k=k)
        short = gist_select(rows, k=k)
        assert short.dtype == np.intp
        assert short.tolist() == full.selected.tolist()
        assert type(full.f) is type(full.g) is type(full.div) is float
        assert type(full.threshold) is type(full.d_max) is float
        assert full.stage in ("greedy", "diameter_pair", "sweep")


def test_ids_come_back_in_selection_order():
    line = [[0.0], [1.0], [5.0], [6.0]]
    options = {"k": 2, "metric": "euclidean"}
    assert gist_select(line, ids="abcd", **options) == ["a", "d"]
    assert gist_select(line, ids=iter("abcd"), **options) == ["a", "d"]
    for ids in ("abc", "abcde", []):
        with pytest.raises(ValueError, match="ids"):
            gist_select(line, ids=ids, **options)
    with pytest.raises(TypeError, match="ids"):
        gist_select(line, ids=7, **options)


def test_the_default_lam_is_one_half():
    rows = np.random.default_rng(1).standard_normal((30, 4))
    assert gist_select_full(rows, k=4) == gist_select_full(rows, k=4, lam=0.5)
    for function in (gist_select, gist_select_full):
        assert inspect.signature(function).parameters["lam"].default == 0.5


def test_everything_but_the_data_is_keyword_only():
    for function in (gist_select, gist_select_full, gist_path):
        parameters = list(inspect.signature(function).parameters.values())
        assert [p.name for p in parameters[:2]] == ["vectors", "utilities"]
        assert {p.kind for p in parameters[2:]} == {inspect.Parameter.KEYWORD_ONLY}


def test_public_names_are_documented_and_exist():
    for name in diversity.__all__:
        assert getattr(diversity, name) is not None
    for name in ("gist_select", "gist_select_full", "gist_path"):
        assert "GIST" in diversity.__doc__
        assert getattr(diversity, name).__doc__.strip()


def test_a_selection_of_one_has_the_diameter_as_its_div():
    found = gist_select_full([[0.0], [3.0]], k=1, lam=1.0, metric="euclidean")
    assert (found.f, found.g, found.div, found.d_max) == (4.0, 1.0, 3.0, 3.0)


def test_one_point():
    found = gist_select_full([[2.0]], k=3, metric="euclidean")
    assert (found.f, found.div, found.d_max, found.stage) == (1.0, 0.0, 0.0, "greedy")


def test_distances_of_exact_directions():
    for other, distance in (([0.0, 1.0], 1.0), ([-1.0, 0.0], 2.0), ([1.0, 0.0], 0.0)):
        assert gist_select_full([[1.0, 0.0], other], k=2).d_max == distance


def test_repr_shows_every_figure():
    shown = repr(gist_select_full(SQUARE, k=2))
    for name in ("selected", "f", "g", "div", "threshold", "stage", "d_max"):
        assert f"{name}=" in shown


def test_a_bad_table_is_refused_before_the_long_work(monkeypatch):
    def diameter(*_):
        raise AssertionError("the diameter was looked for first")

    monkeypatch.setattr("limbic.diversity._select.exact_diameter", diameter)
    with pytest.raises(DiversityError, match="weight"):
        gist_select(SQUARE, [1.0], k=2)
