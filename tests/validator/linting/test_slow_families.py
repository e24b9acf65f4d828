"""The inputs that the fuzzing once found to be slow stay within the limit of time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.fuzz import families, judge

# Large enough for quadratic time to exceed the limit of a MiB, and small enough for a slow machine to stay below it.
BYTES = 128 * 1024


@pytest.mark.parametrize("name", families.FAMILIES)
def test_an_input_of_a_family_that_was_slow_is_linted_within_a_second(name: str, tmp_path: Path) -> None:
    file = tmp_path / "input.yaml"
    file.write_text(families.grown(name, BYTES))
    # Not the memory: the process begins as a copy of this one.
    verdict = judge.judge(file, tmp_path / "said.txt")
    assert verdict.seconds < judge.SECONDS_PER_MIB, verdict.fault
