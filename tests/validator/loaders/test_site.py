"""`--site`: a run is linted against what the site provides, with the site's values for runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from tests.charts import helm
from tests.validator.linting import corruption
from trainyard.cli import main
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.engine import registry
from trainyard.engine.engine import Engine
from trainyard.linting import pipeline
from trainyard.loaders.site.loading import SiteError, load_site
from trainyard.model.site import Site

SITE = registry.folder() / "site" / "cases" / "onprem.site.yaml"
Lint = Callable[..., list[tuple[str, str]]]

# Values that a team wrote for another cluster.
MISTAKEN = """\
nodes: 16
processesPerNode: 8
image:
  repository: registry.example.com/vision/pretrain
  tag: "0.14"
resources:
  limits:
    cpu: 96
    memory: 1600Gi
    nvidia.com/gpu: 8
    rdma/ib_shared: 1  # <- SI003
sharedMemory:
  size: 64Gi
fabric:
  profile: coreweave-ib  # <- SI001
  networks:
    - {name: storage, namespace: network}  # <- SI002
scheduling:
  queue:
    name: trainig  # <- SI004
    topology:
      mode: required
      level: topology.example.com/block  # <- SI008
"""
# The same run for this site; values that the site sets for all runs are not repeated.
RIGHT = {
    "nodes": 8,
    "processesPerNode": 8,
    "image": {"repository": "registry.example.com/vision/pretrain", "tag": "0.14"},
    "resources": {"limits": {"cpu": 96, "memory": "1600Gi", "nvidia.com/gpu": 8}},
    "sharedMemory": {"size": "64Gi"},
    "scheduling": {"queue": {"topology": {"mode": "required", "level": "topology.example.com/rack"}}},
}


@pytest.fixture
def lint(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Lint:
    """A function that lints a text with a site, and returns `(code, file:line)` of all findings."""

    def lint(text: str, *options: str, site: str | Path = SITE) -> list[tuple[str, str]]:
        path = tmp_path / "run.yaml"
        path.write_text(text)
        if isinstance(site, str):
            (tmp_path / "site.yaml").write_text(site)
            site = tmp_path / "site.yaml"
        main.main(["lint", "--site", str(site), "--output-format", "json", *options, str(path)])
        found = json.loads(capfd.readouterr().out)["findings"]
        return [(one["rule"], f"{Path(one['location']['path']).name}:{one['location']['line']}") for one in found]

    return lint


def test_each_mistake_of_a_run_is_found_at_its_line(lint: Lint) -> None:
    lines = MISTAKEN.split("\n")
    marked = [(line[-5:], f"run.yaml:{number}") for number, line in enumerate(lines, 1) if "# <-" in line]
    assert sorted(lint(MISTAKEN)) == sorted(marked)


def test_a_finding_refers_to_the_line_of_the_site(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.yaml").write_text(MISTAKEN)
    assert main.main(["lint", "--site", str(SITE), str(tmp_path / "run.yaml")]) == 1
    line = SITE.read_text().split("\n").index("  name: training") + 1
    assert f"note: the name of the site's queues: {SITE}:{line}:9" in capfd.readouterr().out


def test_a_run_that_fits_the_site_has_no_findings_as_values_or_rendered(lint: Lint, tmp_path: Path) -> None:
    assert lint(yaml.safe_dump(RIGHT)) == []
    below = tmp_path / "site-run.yaml"
    below.write_text(yaml.safe_dump(load_site(str(SITE)).run_values.tree))
    options = ("--values", str(below), "--namespace", "vision")
    rendered = helm.template("helm", helm.CHARTS["training-job"], *options, values=RIGHT)
    assert rendered.returncode == 0, rendered.stderr
    assert lint(rendered.stdout) == []


def test_without_the_sites_values_a_rendered_run_lacks_its_fabric(lint: Lint) -> None:
    rendered = helm.template("helm", helm.CHARTS["training-job"], values={**RIGHT, "scheduling": {}})
    assert "FB004" in {code for code, _ in lint(rendered.stdout)}


def test_faulty_values_of_the_site_are_reported_in_the_site(lint: Lint) -> None:
    site = "fabric:\n  profile: onprem-ib\n  env:\n    NCCL_IB_TIMEOUT: 40\n"
    run = {key: value for key, value in RIGHT.items() if key != "scheduling"}
    assert lint(yaml.safe_dump(run), site=site) == [("NC026", "site.yaml:4")]


def test_values_that_only_the_site_sets_are_not_reported_as_without_effect(lint: Lint) -> None:
    run = {**RIGHT, "fabric": {"profile": "none"}, "resources": {"limits": {"cpu": 4}}, "processesPerNode": 1}
    found = lint(yaml.safe_dump(run), "--select", "HV", site=SITE.read_text() + "common: {}\n")
    assert [place for _, place in found if place.startswith("site")] == []


def test_the_namespace_selects_the_queues_of_a_team(lint: Lint, tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    chart = ("--chart", str(helm.CHARTS["training-job"]), "-f", str(values), "--select", "SI")

    def found(namespace: str, nodes: int) -> set[str]:
        values.write_text(yaml.safe_dump({**RIGHT, "nodes": nodes}))
        return {code for code, _ in lint("{}", *chart, "--namespace", namespace)} - {"HV007"}

    assert found("vision", 8) == set()
    assert found("vision", 16) == {"SI005"}
    assert found("language", 16) == set()
    assert found("speech", 8) == {"SI004"}


def test_the_configuration_names_a_site_relative_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lint: Lint
) -> None:
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites/onprem.yaml").write_text(SITE.read_text())
    (tmp_path / ".trainyard.yaml").write_text("site: sites/onprem.yaml\n")
    (tmp_path / "run.yaml").write_text(MISTAKEN)
    monkeypatch.chdir(tmp_path)
    assert main.main(["lint", "run.yaml"]) == 1
    assert main.main(["lint", "run.yaml", "--ignore", "SI"]) == 0


def test_no_fix_writes_into_the_site() -> None:
    site = load_site(str(SITE))
    run = File(Source("run.yaml", yaml.safe_dump({**RIGHT, "nccl": {"NCCL_DEBUG": "WARN"}})))
    report = pipeline.lint([pipeline.read_file(run)], Engine(registry.rules(), site=site))
    sources = {edit.at.document.source.name for finding in report.findings for edit in finding.edits}
    assert sources <= {"run.yaml"}


MISTAKES = {
    "": "nothing is in it",
    "# nothing yet\n": "nothing is in it",
    "- a": "it holds no values, `key: value`, but a list",
    "a: [": "site.yaml:2:1: did not find expected node content",
    "a: 1\n---\nb: 1\n": "it holds 2 documents",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: site}\n": "this is a ConfigMap",
    "nodes: 4\ntorchrun: {port: 29500}\n": "these are values of a run",
    "fabrik: {profile: none}": "site.yaml:1:1: a site has no `fabrik`; did you mean `fabric`?",
    "fabric: {profil: none}": "a site has no `fabric.profil`; did you mean `profile`?",
    "fabric: {profile: eks-ef}": 'there is no fabric profile "eks-ef"; did you mean `eks-efa`?',
    "fabric: eks-efa": '`fabric` is "eks-efa"; write a mapping',
    "queues: {clusterQueues: {name: a}}": "`queues.clusterQueues` is a mapping; write a list",
    "fabric: {profile: onprem-roce}": "site.yaml:1:1: fabric.profile onprem-roce: RoCE needs an interface in the pod",
    "operator: {replica: 2}": "site.yaml:1:12: a site has no `operator.replica`; did you mean `replicas`?",
    "networks: {enabled: true, networks: [{name: a}]}": "`networks.networks[0]` needs `type`",
    "networks: {enabled: true, networks: [{name: a, type: macvlan}]}": "site.yaml:1:38: networks: a: master is missing",
    "networks: {enabled: true, networks: [rail]}": "`networks.networks` is a list; write a list of items",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_an_invalid_site_is_refused_with_the_remedy(text: str, tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(text)
    with pytest.raises(SiteError) as error:
        load_site(str(path))
    assert MISTAKES[text] in str(error.value)


@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(corruption.texts(original=(yaml.safe_load(SITE.read_text()),)))
def test_a_damaged_site_is_read_or_refused_and_never_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        site = load_site(str(path))
    except SiteError:
        return
    run = File(Source("run.yaml", (registry.folder() / "site/cases/site_network_unknown.good.yaml").read_text()))
    pipeline.lint([pipeline.read_file(run)], Engine(registry.rules(), site=site))


def test_an_empty_site_is_the_platform_chart_with_its_defaults(tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text("{}\n")
    site: Site = load_site(str(tmp_path / "site.yaml"))
    assert (site.profile, site.networks, site.queues) == (None, (), None)
    assert site.operator is not None
    assert len(site.operator.kinds) == 6
    assert site.run_values.tree == {"fabric": {"profile": "none"}}


SRIOV = """\
fabric:
  profile: onprem-roce
  networks: [{name: roce-0, namespace: training}]
  resources: {rdma/rdma_shared_device_a: null}
gpu:
  enabled: true
  profile: onprem-roce
  images: {registry: registry.example.com}
  network:
    pools:
      - {name: a100, nodeSelector: {gpu: a100}, hostDevices: [{name: hostdev}]}
  rdma:
    sharedDevices: [{name: shared_ib}, {name: hca, prefix: site.example.com}]
  sriov:
    policies:
      - name: roce
        resourceName: roce
        numVfs: 8
        rails: [{pfNames: [ens1f0np0]}, {pfNames: [ens2f0np0], resourceName: second}]
      - {name: ib, resourceName: ib, numVfs: 4, vendor: 15b3, linkType: ib}
    networks:
      - {name: roce, resourceName: roce, networkNamespace: training, ipam: {type: nv-ipam, poolName: roce}}
      - {name: ib, resourceName: ib}
"""


def test_the_devices_and_networks_of_policies_are_provided(tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text(SRIOV)
    site = load_site(str(tmp_path / "site.yaml"))
    assert set(site.resources) == {
        "rdma/shared_ib", "site.example.com/hca", "nvidia.com/hostdev", "nvidia.com/roce0", "nvidia.com/second",
        "nvidia.com/ib",
    }  # fmt: skip
    assert [network[:3] for network in site.networks] == [
        ("training", "roce-0", "nvidia.com/roce0"),
        ("training", "roce-1", "nvidia.com/second"),
        ("nvidia-network-operator", "ib", "nvidia.com/ib"),
    ]


def test_the_profile_of_a_policy_provides_its_devices(tmp_path: Path) -> None:
    site = """\
fabric: {profile: onprem-ib, resources: {rdma/rdma_shared_device_a: null}}
gpu: {enabled: true, profile: onprem-ib, images: {registry: registry.example.com}}
"""
    (tmp_path / "site.yaml").write_text(site)
    assert set(load_site(str(tmp_path / "site.yaml")).resources) == {"rdma/rdma_shared_device_a"}
