"""`pytest -k <rule>` selects every test of a rule, also of one that the index does not know yet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.validator.rules import cases, test_rules
from trainyard.engine import registry

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[2]


@pytest.mark.parametrize("name", ["shm-too-small", "shm_too_small"])
def test_a_name_with_dashes_or_underscores_selects_the_rule_and_all_its_cases(name: str) -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-k", name, str(FOLDER / "test_rules.py")]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    rule = registry.find_rule("shm-too-small-for-gpus")
    assert rule
    files = {path.name for part in ("bad", "good", "fixed") for path in cases.case_files(rule, part)}
    selected = {line.split("[")[-1].rstrip("]") for line in finished.stdout.splitlines() if "[" in line}
    assert selected == {rule.name, *files}


def test_a_rule_that_the_index_lacks_is_tested_and_its_test_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    new, *indexed = registry.rules()
    monkeypatch.setattr(registry, "rules", lambda: tuple(indexed))
    (found,) = (rule for rule in cases.every_rule() if rule.name == new.name)
    with pytest.raises(AssertionError, match="run `make rules`"):
        test_rules.test_a_rule_is_complete(found)
