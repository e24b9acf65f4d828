"""The helm-unittest suites in each chart's tests folder."""

from __future__ import annotations

import os
import re

import pytest

from tests.charts import kept
from tests.charts.helm import CHARTS, tool


@pytest.mark.parametrize("chart", CHARTS)
def test_the_suites_of_the_chart_pass(chart: str) -> None:
    command = [tool("helm-unittest"), "--strict", "--with-subchart=false", "--file", "tests/**/*_test.yaml"]

    # Collecting garbage less often takes a third less processor time.
    environment = os.environ | {"GOGC": "400"}
    result = kept.run([*command, str(CHARTS[chart])], CHARTS[chart], environment)

    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"^Tests: .* [1-9]\d* total$", result.stdout, re.MULTILINE), "the chart has no tests"
