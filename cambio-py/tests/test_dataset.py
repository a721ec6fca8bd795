"""The sample of the data set: complete records, with the values that the page of the book describes."""

from __future__ import annotations

import gzip
import json
import math
import statistics
from pathlib import Path

import cambio_game as cambio

SAMPLE = Path(__file__).parents[2] / "book/data/rounds-1000.jsonl.gz"


def test_values_and_luck_of_the_sample_are_those_of_the_library() -> None:
    with gzip.open(SAMPLE, "rt", encoding="utf-8") as lines:
        sample = [cambio.Record(line) for line in lines]
    assert len(sample) == 1000
    compared, results, luck = 0, [], []
    for record in sample:
        record.verify()
        fields = json.loads(record.to_json())
        results.append(float(fields["totals"][0]))
        luck.append(fields["x-luck"][0])
        assert fields["x-luck"][1] == -luck[-1]
        (played,) = fields["rounds"]
        assert len(played["x-values"]) == len(played["x-best-values"]) == len(played["decisions"])
        for (observation, action), value, best in zip(record.replay(), played["x-values"], played["x-best-values"], strict=True):
            if compared > 2000:
                break
            candidates = {str(one): logit for one, _, logit in observation.network_inputs()}
            values = {one: round(1 / (1 + math.exp(-logit)), 4) for one, logit in candidates.items() if len(candidates) > 1}
            expected = values.get(str(action))
            if best is None:
                assert not values
                continue
            assert abs(best - max(values.values())) < 2e-4
            # Of decisions that are alike, such as keeps over unknown cards, the network considers only one.
            if expected is not None:
                assert abs(value - expected) < 2e-4
                compared += 1
    assert compared > 1000
    # Luck has mean 0, and results without it vary less.
    mean = statistics.mean(luck)
    without = [result - share for result, share in zip(results, luck, strict=True)]
    assert abs(mean) < 4 * math.sqrt(sum(share**2 for share in luck)) / 1000
    assert statistics.variance(without) < 0.7 * statistics.variance(results)
