"""Records fit the JSON Schema that the command prints."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import jsonschema
import pytest

import cambio_game as cambio
from conftest import CAMBIO, TABLES, cambio_prints, midway

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    if CAMBIO is None:
        pytest.skip("CAMBIO_BIN does not name the command")
    schema = json.loads(cambio_prints("schema", "--records"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def played(rules: str | cambio.Rules, seats: int, seed: int) -> dict:
    """The record of a match, or of its first 1,000 decisions."""
    return json.loads(midway(rules, seats, seed, 1000).record().to_json())


def test_records_of_all_rules_fit_the_schema(validator: jsonschema.Draft202012Validator) -> None:
    house = sorted((ROOT / "cambio-report/benchmark/2").glob("*.toml"))
    tables = TABLES + [(cambio.Rules.read(file), 3) for file in house if file.name != "suite.toml"]
    verbs = set()
    for number, (rules, seats) in enumerate(tables):
        record = played(rules, seats, number)
        validator.validate(record)
        verbs |= {decision.split()[1] for round in record["rounds"] for decision in round["decisions"]}
    assert {"draw", "take", "keep", "drop", "look", "swap", "snap", "touch", "give", "peek", "call", "pass", "end"} <= verbs
    for line in (ROOT / "cambio-cli/tests/golden/record-1.jsonl").read_text().splitlines():
        validator.validate(json.loads(line))


def test_a_changed_record_does_not_fit(validator: jsonschema.Draft202012Validator) -> None:
    record = played("classic", 2, 1)
    changes = [
        ("seats", 9),
        ("format", "cambio-record/2"),
        ("agents", "greedy"),
        ("ranks", [0, 1]),
        ("rounds", [{"decisions": ["a fly"]}]),
        ("rounds", [{"decisions": ["a keep"]}]),
        ("rounds", [{"starter": "z"}]),
        ("rounds", [{"ended": "late"}]),
    ]
    for field, value in changes:
        changed = copy.deepcopy(record) | {field: value}
        assert not validator.is_valid(changed), field
    # Other programs may add fields.
    validator.validate(record | {"x-place": "Bern"})
