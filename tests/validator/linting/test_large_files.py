"""A mebibyte of anything is linted in about a second and in little memory, and what is found in it can be read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.validator.runs import CLEAN
from validator import linting, registry
from validator.engine import MOST, Engine
from validator.files import File
from validator.source import Source

MEBIBYTE = 2**20
# A second of a processor that nobody shares; a test runner's is shared, and may be an old one.
SECONDS = 3
MEBIBYTES_OF_MEMORY = 256

# The peak that the kernel counts for a child holds that of its parent too: the process itself has to ask.
MEASURED = """
import re, sys, time
from validator.__main__ import main
assert main() in (0, 1)
peak = re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]
print(time.process_time(), peak, file=sys.stderr)
"""

JOB = CLEAN.partition("            env:\n")[0]
SCRIPT = "            command: [bash, -c]\n            args:\n            - |\n"
NETWORK = """\
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: rail-%d}
spec:
  config: '{"cniVersion": "0.3.1", "type": "macvlan", "master": "eth1", "ipam": {"type": "dhcp"}}'
"""
# What stands before, and what is repeated until the text is large.
LARGE = {
    "unknown variables": (JOB + "            env:\n", '            - {name: NCCL_IB_FOO%d, value: "1"}\n'),
    "one variable": (JOB + "            env:\n", '            - {name: NCCL_IB_TIMEOUT, value: "%d"}\n'),
    "exports": (JOB + SCRIPT, "              export NCCL_IB_FOO%d=1\n"),
    "pipelines": (JOB + SCRIPT, "              torchrun train.py --part=%d | tee train.log\n"),
    "options": (JOB + "            command: [torchrun]\n            args:\n", "            - --seed=%d\n"),
    "containers": (JOB, "          - {name: c%d, resources: {limits: {nvidia.com/gpu: 1}}}\n"),
    "volumes": (JOB + "          volumes:\n", "            - {name: v%d, emptyDir: {medium: Memory}}\n"),
    "jobs": ("", "---\n" + JOB.replace("name: llm\n", "name: llm-%d\n")),
    "networks": ("", NETWORK),
    "values": ("nodes: 2\nenv:\n", '  NCCL_IB_FOO%d: "1"\n'),
    "suppressions": (JOB, "# trainyard: allow no-such-rule-%d: nobody knows\n"),
}


def large(name: str) -> str:
    """A text of a mebibyte at most, without a line that is cut off."""
    before, repeated = LARGE[name]
    count = (MEBIBYTE - len(before)) // (len(repeated) + 5)
    return before + "".join(repeated % number for number in range(count))


@pytest.mark.parametrize("name", LARGE)
def test_a_mebibyte_is_linted_in_time_and_in_little_memory(name: str, tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    file.write_text(large(name), "utf-8")
    finished = subprocess.run(
        [sys.executable, "-c", MEASURED, "lint", file],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds, kibibytes = finished.stderr.split()
    assert float(seconds) < SECONDS
    assert int(kibibytes) / 1024 < MEBIBYTES_OF_MEMORY


def codes(text: str, *rules: str) -> list[str]:
    """The codes of the findings in a text, of all rules or of these."""
    engine = Engine([rule for rule in registry.rules() if not rules or rule.code in rules])
    report = linting.lint([linting.read(File(Source("large.yaml", text)))], engine)
    return [finding.rule.code for finding in report.findings]


def variables(count: int) -> str:
    """A job with so many variables whose values are no text."""
    entries = "".join(f"            - {{name: PART_{number}, value: {number}}}\n" for number in range(count))
    return JOB + "            env:\n" + entries


def test_of_one_rule_so_many_findings_are_listed_and_then_it_is_said_that_there_may_be_more() -> None:
    found = codes(variables(MOST + 100))
    assert found.count("HV001") == MOST
    assert found.count("HV011") == 1


def test_a_rule_is_asked_to_the_end_where_it_finds_fewer() -> None:
    found = codes(variables(MOST - 1))
    assert found.count("HV001") == MOST - 1
    assert "HV011" not in found


def test_one_fault_that_many_runs_share_is_one_fault() -> None:
    config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nccl}\ndata: {NCCL_IB_DISABLE: 'yes'}\n"
    job = JOB + "            envFrom: [{configMapRef: {name: nccl}}]\n"
    jobs = "".join("---\n" + job.replace("name: llm\n", f"name: llm-{n}\n") for n in range(MOST + 1))
    found = codes(config_map + jobs, "NC005", "HV011")
    assert found == ["NC005"]


def test_more_values_than_a_chart_is_rendered_with_are_refused_in_words() -> None:
    assert codes(large("values")) == ["HV010"]
