"""Each step of `steps.yaml`: a stranger installs a release from its files and a registry, and not from this repository.

The terminal has the programs that a stranger has: Python, kubectl, Helm, and those of the operating system. The cluster
has Prometheus with kube-state-metrics. Before the steps the stranger reads the site of the release; after them, the
dashboards of the release show the run, and the steps of `removal.yaml` remove everything.
"""

from __future__ import annotations

import json
import os
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser

from tests.e2e import typed_steps
from tests.e2e.typed_steps import Shell, Step
from tests.harness import signatures
from tests.harness.browser import chromium, served
from tests.harness.checkout import repository
from tests.harness.cluster import api, loading, tools
from tests.harness.cluster.archive import unpack
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.grafana import answers
from tests.harness.grafana.drawing import drawn
from tests.harness.jobs import dashboards, kube_state_metrics, operator, operator_crds, platform, pods, prometheus
from tests.harness.jobs import namespace as namespaces
from tests.harness.registry import running
from tools.release import images, site
from tools.release.__main__ import release
from tools.release.publish import publish
from trainyard import __version__

# The platform takes the place of the operator that other tests use. The release alone takes three minutes.
pytestmark = [pytest.mark.alone, pytest.mark.long]

STEPS, REMOVAL = (typed_steps.read(Path(__file__).with_name(f"{name}.yaml")) for name in ("steps", "removal"))
SIGNER = "releases@example.com"
NAMESPACES = ("ml", "monitoring", platform.NAMESPACE)
# Of these tests' variables, those that name a package index or a certificate.
KEPT = ("PIP_", "SSL_", "REQUESTS_", "HTTPS_PROXY", "https_proxy", "HOME")
# Commands of the site that the steps type as well, with the place of the test's registry.
INSTALLING = (
    'cli/bin/pip install --quiet "$(ls release/python/trainyard_cli-*.whl)[report,status]"',
    "helm install platform oci://registry.example.com/trainyard/charts/training-platform",
    "sha256sum --check --quiet SHA256SUMS",
)
# A folder for pictures of the dashboards, if it is set.
PICTURES = "TRAINYARD_PICTURES"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a signed release and the public keys of its makers."""
    folder = tmp_path_factory.mktemp("published")
    home = tmp_path_factory.mktemp("gnupg")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNUPGHOME", str(home))
        patch.setenv("COSIGN_PASSWORD", "")
        key = signatures.cosign_keys(tmp_path_factory.mktemp("cosign"))
        with signatures.keyring(home, SIGNER) as public:
            checkout = repository(tmp_path_factory.mktemp("checkout"), __version__)
            made = release(
                checkout,
                __version__,
                folder,
                key=SIGNER,
                cosign_key=key,
                image_names=images.NAMES,
                with_site=True,
            )
        made.rename(folder / "release")
        (folder / "release.gpg").write_bytes(public.read_bytes())
        (folder / "release.pub").write_bytes(key.with_suffix(".pub").read_bytes())
        yield folder


@pytest.fixture(scope="module")
def registry(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A registry to which the charts were pushed; its images are loaded into the nodes, which cannot reach it."""
    with running(tmp_path_factory.mktemp("registry")) as address:
        assert list(publish(files / "release", f"{address}/trainyard"))
        yield address


@pytest.fixture(scope="module")
def shell(cluster: Cluster, engine: Engine, files: Path, registry: str) -> Iterator[Shell]:
    """A terminal in an empty folder beside the release, with the values of a site."""
    with platform.bare(cluster, engine), operator_crds.served(cluster, operator_crds.files("monitoring")):
        # With the test image, the nodes have all but the top layer of the published one.
        parts = operator.images(cluster, engine)
        (image,) = (files / "release" / "images").glob("trainyard-trainer-*.tar")
        repository, tag = loading.load(cluster, engine, str(image)).rsplit(":", 1)
        settings = {
            "runs.image": {"repository": repository, "tag": tag},
            "runs.checkpoints": {"storageClassName": "shared", "size": "1Gi"},
            "operator.enabled": True,
            **{f"operator.{name}": value for name, value in parts.items()},
        }
        tools.link(files / "bin", ("helm", "kubectl"))
        paths = (files / "bin", files / "cli/bin", Path(sys.base_prefix, "bin"), "/usr/bin", "/bin")
        kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
        variables = {
            "PATH": ":".join(map(str, paths)),
            "KUBECONFIG": str(cluster.kubeconfig),
            "CHARTS": f"oci://{registry}/trainyard/charts",
        }
        shell = Shell(files, kept | variables)
        shell.write("site.yaml", yaml.safe_dump(platform.merged({}, settings)))
        namespaces.create(cluster.kubeconfig, "ml")
        yield shell
        for name in NAMESPACES:
            namespaces.delete(cluster.kubeconfig, name)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser of the stranger."""
    with chromium() as started:
        yield started


def test_the_site_of_the_release_leads_to_its_commands_and_to_messages(
    files: Path, browser: Browser, tmp_path: Path
) -> None:
    with tarfile.open(files / "release" / site.NAME) as archive:
        unpack(archive, tmp_path)
    with served(tmp_path / "site") as address:
        page = browser.new_page()
        page.goto(address)
        page.get_by_role("article").get_by_role("link", name="Packages and the Internet").click()
        page.get_by_role("heading", name="Install a release from its packages").wait_for()
        shown = page.get_by_role("article").inner_text()
        assert [line for line in INSTALLING if line not in shown] == []

        page.locator("input[data-md-component=search-query]").click()
        page.locator("input[data-md-component=search-query]").press_sequentially("OOMKilled")
        page.locator("a.md-search-result__link").first.click()
        page.get_by_role("article").get_by_text("memory limit").first.wait_for()
        page.close()


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.step)
def test_a_step_of_a_stranger_ends_as_expected(step: Step, shell: Shell) -> None:
    shell.follow(step)


@pytest.fixture
def a_gpu(cluster: Cluster, engine: Engine) -> Iterator[None]:
    """A GPU that only its node's status names, and a pod that requests it."""
    node = cluster.workers[0]
    patch = ("patch", "node", node, "--subresource=status", "--type=json", "--patch")
    place = "/status/capacity/nvidia.com~1gpu"
    api.kubectl(cluster.kubeconfig, *patch, json.dumps([{"op": "add", "path": place, "value": "1"}]))
    image = loading.load(cluster, engine, prometheus.NAME)
    needs = {"resources": {"limits": {"nvidia.com/gpu": 1}}}
    pod = {
        "metadata": {"name": "gpu", "namespace": "ml"},
        "spec": pods.restricted(image, ["sleep", "9999"], container=needs),
    }
    api.apply(cluster.kubeconfig, {"apiVersion": "v1", "kind": "Pod", **pod})
    yield
    api.kubectl(cluster.kubeconfig, "delete", "pod", "gpu", "--namespace", "ml", "--now")
    api.kubectl(cluster.kubeconfig, *patch, json.dumps([{"op": "remove", "path": place}]))


def values_now(dashboard: answers.Object, answered: answers.Answers, title: str) -> dict[str, float]:
    """Return the last value of each query of a panel, by its legend; nothing if the dashboard has no such panel."""
    found = {}
    for panel in answers.panels(dashboard):
        if panel["title"] == title:
            for target in panel["targets"]:
                (series,) = answered[panel["id"]][target["refId"]]
                found[target["legendFormat"]] = float(series["values"][-1][1])
    return found


@pytest.mark.usefixtures("a_gpu")
def test_no_panel_of_the_dashboards_lacks_data_of_the_run(
    shell: Shell, cluster: Cluster, engine: Engine, browser: Browser
) -> None:
    """The dashboards are those of the ConfigMaps that the chart of the registry installed."""
    listed = shell.type("kubectl -n monitoring get configmaps -l grafana_dashboard=1 -o json").stdout
    exporters = {*prometheus.EXPORTERS, kube_state_metrics.NAME}
    beginning = time.time()
    with (
        kube_state_metrics.running(cluster, engine, "monitoring"),
        prometheus.running(cluster, engine, "monitoring") as server,
    ):
        for one in json.loads(listed)["items"]:
            dashboard = dashboards.contents(one)
            variables = {"namespace": "ml", "run": "llm"}
            answers.gathered(server, dashboard, exporters, start=beginning, seconds=150, **variables)
            # Again, so that all graphs end now.
            answered = answers.gathered(server, dashboard, exporters, start=beginning, seconds=30, **variables)
            end = time.time()
            if counts := values_now(dashboard, answered, "Jobs"):
                # Of three runs, one ran out of memory. The pod of another that was killed is in none of them.
                assert counts == {"created": 3, "succeeded": 0, "failed": 1, "deleted": 0}
            full = answers.without_empty_rows(dashboard, answered)
            with drawn(browser, full, answered, start=beginning, end=end, width=1080) as drawing:
                panels = drawing.panels()
                assert {title for title, panel in panels.items() if panel.is_empty} == set()
                assert drawing.faults == []
                if folder := os.environ.get(PICTURES):
                    drawing.save(Path(folder) / f"{dashboard['uid']}.png")


@pytest.mark.parametrize("step", REMOVAL, ids=lambda step: step.step)
def test_a_stranger_removes_everything(step: Step, shell: Shell) -> None:
    shell.follow(step)
