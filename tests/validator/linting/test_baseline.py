"""The file of known findings: its text, and the files that are refused."""

from __future__ import annotations

import pytest

from tests.validator.cli.sample_runs import FAULTY
from tests.validator.linting.test_suppression import lint
from trainyard.linting.baseline import BaselineError, apply_baseline, load_baseline, save_baseline

# Written by an earlier version: a baseline stays valid as long as its findings.
STORED = """\
{
  "version": 1,
  "findings": [
    {
      "fingerprint": "1e8e091a877298c5b1044980ce3bbbd0",
      "rule": "NC005",
      "path": "k8s/run.yaml",
      "message": "NCCL parses NCCL_SHM_DISABLE as an integer, so `no` means 0"
    }
  ]
}
"""


def test_a_stored_baseline_hides_its_finding() -> None:
    findings = lint(FAULTY).findings
    assert apply_baseline(load_baseline(STORED), findings, ["k8s/run.yaml"], ["NC005"]) == ([], 1, [])


def test_the_text_of_a_baseline_stays_the_same() -> None:
    assert save_baseline(lint(FAULTY).findings) == STORED


@pytest.mark.parametrize("version", ["0", "2", '"1"'])
def test_a_baseline_of_another_version_is_refused(version: str) -> None:
    with pytest.raises(BaselineError, match="its version is"):
        load_baseline(STORED.replace('"version": 1', f'"version": {version}'))


def test_an_entry_is_stale_only_if_its_file_and_its_rule_were_checked() -> None:
    known = load_baseline(STORED)
    assert apply_baseline(known, [], ["k8s/run.yaml"], ["NC005"]) == ([], 0, [("NC005", "k8s/run.yaml")])
    assert apply_baseline(known, [], ["k8s/run.yaml"], ["NC006"]) == ([], 0, [])
    assert apply_baseline(known, [], ["k8s/other.yaml"], ["NC005"]) == ([], 0, [])
