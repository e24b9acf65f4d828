"""A run that is killed at any line of a save finds a valid checkpoint when it restarts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.harness.trainer.environment import ENVIRONMENT

# `make soak` has more. An attempt has about 2500 lines, and each is used at most once.
CASES = int(os.environ.get("TRAINYARD_DRAWS", "300"))


@pytest.mark.timeout(1800)
def test_the_newest_checkpoint_is_complete_whatever_line_the_run_is_killed_at(tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "tests.trainer.kill_at_each_line", str(tmp_path), str(CASES)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    lives = [line.split("\t") for line in finished.stdout.splitlines()]
    assert Counter(how for how, _, _ in lives) == {"killed": len(lives)}, finished.stderr
    assert len(lives) >= min(CASES, 1000)
    # Some attempts are killed before the checkpoint is published, some after.
    assert {int(after) - int(before) for _, before, after in lives if after.isdecimal()} == {0, 1}
    assert [after for _, _, after in lives if not after.isdecimal()] == [], finished.stderr
