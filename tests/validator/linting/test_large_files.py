"""A mebibyte of any YAML is linted in about a second with little memory, and the number of findings is limited."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.validator.cli.sample_runs import CLEAN
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.engine import registry
from trainyard.engine.engine import MOST, Engine
from trainyard.linting import pipeline

MEBIBYTE = 2**20
# On an unshared CPU it takes a second; the CPU of a test runner is shared, and may be old.
SECONDS = 3
MEBIBYTES_OF_MEMORY = 256

# The kernel's peak for a child process includes that of its parent, so the process itself reads its peak.
MEASURED = """
import re, sys, time
from trainyard.__main__ import main
assert main() in (0, 1)
peak = re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]
print(time.process_time(), peak, file=sys.stderr)
"""

JOB = CLEAN.partition("            env:\n")[0]
SCRIPT = "            command: [bash, -c]\n            args:\n            - |\n"
SHM = "            volumeMounts: [{name: shm, mountPath: /dev/shm}]\n"
NETWORK = """\
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: rail-%d}
spec:
  config: '{"cniVersion": "0.3.1", "type": "macvlan", "master": "eth1", "ipam": {"type": "dhcp"}}'
"""
# A run and objects of all kinds to which rules compare it, none of which fits.
TEAM = """\
---
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: llm-%d, namespace: team-%d}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        metadata:
          annotations: {k8s.v1.cni.cncf.io/networks: "rail-%d,rial-%d", scheduling.k8s.io/group-name: group-%d}
        spec:
          containers:
          - name: pytorch
            image: example.com/llm:1
            resources: {limits: {nvidia.com/gpu: 8, rdma/hca_%d: 1, openshift.io/vf_%d: 1}}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: rail-%d, annotations: {k8s.v1.cni.cncf.io/resourceName: rdma/hcb_%d}}
spec: {config: '{"cniVersion": "0.3.1", "type": "sriov", "ipam": {"type": "host-local", "range": "10.0.%d.0/30"}}'}
---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: group-%d, namespace: team-%d}
spec: {minMember: 9}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits, namespace: team-x%d}
spec: {limits: [{type: Container, default: {memory: 1Gi}}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: plugin-%d}
data: {config.json: '{"configList": [{"resourceName": "hca_%d_x"}]}'}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: policy-%d}
spec: {resourceName: vf_%d_x, linkType: eth}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: vf-%d}
spec: {resourceName: vf_%d, networkNamespace: team-%d}
---
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: cluster-%d}
spec: {driver: {kernelModuleType: proprietary, rdma: {enabled: true}}}
---
apiVersion: mellanox.com/v1alpha1
kind: NicClusterPolicy
metadata: {name: nic-%d}
spec: {}
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: alerts-%d}
spec: {groups: [{name: a, rules: [{alert: A, expr: DCGM_FI_X_%d}]}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: claim-%d}
spec: {netAttachDefName: rail-%d}
"""
# The beginning of a text, and the line that is repeated until the text is large.
LARGE = {
    "unknown variables": (JOB + "            env:\n", '            - {name: NCCL_IB_FOO%d, value: "1"}\n'),
    "one variable": (JOB + "            env:\n", '            - {name: NCCL_IB_TIMEOUT, value: "%d"}\n'),
    "exports": (JOB + SCRIPT, "              export NCCL_IB_FOO%d=1\n"),
    "pipelines": (JOB + SCRIPT, "              torchrun train.py --part=%d | tee train.log\n"),
    "options": (JOB + "            command: [torchrun]\n            args:\n", "            - --seed=%d\n"),
    "containers": (JOB, "          - {name: c%d, resources: {limits: {nvidia.com/gpu: 1}}}\n"),
    "volumes": (JOB + SHM + "          volumes:\n", "            - {name: v%d, emptyDir: {medium: Memory}}\n"),
    "empty lines of a damaged file": ("train: {config: {epochs: 3}}\nnodes: *missing\n", "\n"),
    "open comments of a damaged configuration": ('{"zero_optimization": ', "/* "),
    "jobs": ("", "---\n" + JOB.replace("name: llm\n", "name: llm-%d\n")),
    "networks": ("", NETWORK),
    "teams": ("", TEAM),
    "values": ("nodes: 2\nenv:\n", '  NCCL_IB_FOO%d: "1"\n'),
    "suppressions": (JOB, "# trainyard: allow no-such-rule-%d: nobody knows\n"),
}


def large(name: str) -> str:
    """Return a text of at most a mebibyte that ends with a whole line."""
    before, repeated = LARGE[name]
    count = (MEBIBYTE - len(before)) // (len(repeated) + 5 * repeated.count("%"))
    return before + "".join(repeated.replace("%d", str(number)) for number in range(count))


@pytest.mark.parametrize("name", LARGE)
def test_a_mebibyte_is_linted_in_time_with_little_memory(name: str, tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    file.write_text(large(name), "utf-8")
    finished = subprocess.run(
        [sys.executable, "-c", MEASURED, "lint", file],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds, kibibytes = finished.stderr.splitlines()[-1].split()
    assert float(seconds) < SECONDS
    assert int(kibibytes) / 1024 < MEBIBYTES_OF_MEMORY


def codes(text: str, *rules: str) -> list[str]:
    """Return the codes of the findings in a text, of all rules or of these."""
    engine = Engine([rule for rule in registry.rules() if not rules or rule.code in rules])
    report = pipeline.lint([pipeline.read_file(File(Source("large.yaml", text)))], engine)
    return [finding.rule.code for finding in report.findings]


def variables(count: int) -> str:
    """Return a job with this many variables whose values are not text."""
    entries = "".join(f"            - {{name: PART_{number}, value: {number}}}\n" for number in range(count))
    return JOB + "            env:\n" + entries


def test_the_findings_of_one_rule_are_limited_and_the_limit_is_reported() -> None:
    found = codes(variables(MOST + 100))
    assert found.count("HV001") == MOST
    assert found.count("HV011") == 1


def test_a_rule_with_fewer_findings_is_run_to_the_end() -> None:
    found = codes(variables(MOST - 1))
    assert found.count("HV001") == MOST - 1
    assert "HV011" not in found


def test_a_number_of_thousands_of_digits_is_a_finding() -> None:
    job = JOB.replace("spec:\n", f"spec:\n  runPolicy: {{backoffLimit: {'9' * 5000}}}\n", 1)
    assert codes(job, "SM003") == ["SM003"]


def test_a_date_in_the_configuration_of_ray_serve_that_no_calendar_has_is_read() -> None:
    service = "apiVersion: ray.io/v1\nkind: RayService\nmetadata: {name: a}\nspec:\n  serveConfigV2: |\n"
    config = "    applications:\n    - {importPath: a, name: 2001-99-99}\n"
    assert codes(service + config, "RY003") == ["RY003"]


def test_a_fault_that_many_runs_share_is_reported_once() -> None:
    config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nccl}\ndata: {NCCL_IB_DISABLE: 'yes'}\n"
    job = JOB + "            envFrom: [{configMapRef: {name: nccl}}]\n"
    jobs = "".join("---\n" + job.replace("name: llm\n", f"name: llm-{n}\n") for n in range(MOST + 1))
    found = codes(config_map + jobs, "NC005", "HV011")
    assert found == ["NC005"]


def test_more_values_than_can_be_rendered_are_refused() -> None:
    assert codes(large("values")) == ["HV010"]
