"""The 22 published cases: selection, stage and all five numbers equal to the last bit."""

import hashlib
import importlib.util
import json
from pathlib import Path

import pytest
from golden_cases import CONTENT_SHA256, GOLDEN, differences, problem

from limbic.diversity import gist_select, gist_select_full

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT.parent / "shared" / "golden" / "golden-selection.json"
PUBLISHED_SHA256 = "73713cd2d7ec9bb23659a9ee05235600e3fa358b318f2095c3eb80eab2e458a7"

each_case = pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])


def test_our_copy_is_the_one_that_was_checked():
    assert CONTENT_SHA256 == ("5ccd99d55b62345e2f926f32c7334ddf0632174d09f25a7d9fdcee486c1ba6f5")


def test_header():
    assert GOLDEN["published_sha256"] == PUBLISHED_SHA256
    assert GOLDEN["source"].startswith("divsel 0.1.0")
    assert "arXiv:2405.18754v3" in GOLDEN["source"]
    assert len({case["name"] for case in GOLDEN["cases"]}) == len(GOLDEN["cases"]) == 22


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published file is not beside this tree")
def test_our_copy_is_the_published_file():
    published = PUBLISHED.read_bytes()
    assert hashlib.sha256(published).hexdigest() == PUBLISHED_SHA256
    content = json.loads(published)
    assert content["schema"] == 1
    assert content["tolerance"]["f_rel"] == 1e-6
    spec = importlib.util.spec_from_file_location("make_golden", ROOT / "tools" / "make_golden.py")
    make_golden = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_golden)
    assert make_golden.our_golden(published) == GOLDEN


@each_case
def test_package(case):
    vectors, utilities, options = problem(case)
    answer = gist_select_full(vectors, utilities, **options)
    assert differences(answer, case) == []
    short = gist_select(vectors, utilities, **options)
    assert short.tolist() == case["selected"]
