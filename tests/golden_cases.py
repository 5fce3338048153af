"""The published conformance cases in our layout, and what a test asks of them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

PATH = Path(__file__).parent / "data" / "gist_cases.json"
GOLDEN = json.loads(PATH.read_text(encoding="utf-8"))
# Of the content, not of the bytes: line ends may differ between checkouts.
CONTENT_SHA256 = hashlib.sha256(json.dumps(GOLDEN, sort_keys=True).encode()).hexdigest()
NUMBERS = ("f", "g", "div", "threshold", "d_max")


def problem(case: dict[str, Any]) -> tuple[list[list[float]], Any, dict[str, Any]]:
    """Vectors, utilities and options of one case, as the functions under test take them."""
    table = case["utilities"]
    if case["options"]["utility"] == "linear" and table is not None:
        table = [float.fromhex(weight) for weight in table]
    options = dict(case["options"])
    for key in ("lam", "eps"):
        options[key] = float.fromhex(options[key])
    vectors = [[float.fromhex(x) for x in row] for row in case["vectors"]]
    return vectors, table, options


def differences(answer: Any, case: dict[str, Any]) -> list[str]:
    """Names of the fields in which an answer is not the case's to the last bit."""
    wrong = [] if list(answer.selected) == case["selected"] else ["selected"]
    wrong += [] if answer.stage == case["stage"] else ["stage"]
    return wrong + [
        name for name in NUMBERS if float(getattr(answer, name)).hex() != case["numbers"][name]
    ]
