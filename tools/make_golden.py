#!/usr/bin/env python3
"""Make tests/data/gist_cases.json from the published conformance file.

    python3 tools/make_golden.py PATH/TO/golden-selection.json

Only figures and case names are kept. Every real number is written as the hexadecimal form of its
float64 value, so that no reader of decimals stands between the published bits and the tests.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

PUBLISHED_SHA256 = "73713cd2d7ec9bb23659a9ee05235600e3fa358b318f2095c3eb80eab2e458a7"
TARGET = Path(__file__).resolve().parent.parent / "tests" / "data" / "gist_cases.json"
NUMBERS = ("f", "g", "div", "threshold", "d_max")
OPTIONS = ("k", "metric", "utility", "exhaustive_thresholds", "diameter", "diameter_sweeps")


def hexadecimal(value: float) -> str:
    return float(value).hex()


def our_case(case: dict[str, Any]) -> dict[str, Any]:
    table = case["utilities"]
    if case["utility"] == "linear" and table is not None:
        table = [hexadecimal(weight) for weight in table]
    return {
        "name": case["name"],
        "vectors": [[hexadecimal(x) for x in row] for row in case["vectors"]],
        "utilities": table,
        "options": {key: case[key] for key in OPTIONS}
        | {"lam": hexadecimal(case["lam"]), "eps": hexadecimal(case["eps"])},
        "selected": case["expected_selected"],
        "stage": case["expected_stage"],
        "numbers": {key: hexadecimal(case[f"expected_{key}"]) for key in NUMBERS},
    }


def our_golden(published: bytes) -> dict[str, Any]:
    digest = hashlib.sha256(published).hexdigest()
    if digest != PUBLISHED_SHA256:
        raise SystemExit(f"not the published file: sha256 {digest}, expected {PUBLISHED_SHA256}")
    content = json.loads(published)
    return {
        "source": f"{content['generator']} (Apache-2.0), conformance cases of {content['paper']}",
        "published_sha256": digest,
        "cases": [our_case(case) for case in content["cases"]],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("published", type=Path)
    published = parser.parse_args().published.read_bytes()
    # A case per line: a change of one is a change of one line.
    golden = our_golden(published)
    cases = ",\n".join(json.dumps(case, sort_keys=True) for case in golden.pop("cases"))
    head = json.dumps(golden, sort_keys=True)[:-1]
    TARGET.write_text(f'{head},\n"cases": [\n{cases}\n]}}\n', encoding="utf-8")
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
