"""Each step of `flux.yaml` and of `argo.yaml`: a platform and a run are installed and upgraded, and mistakes reported.

The controllers are those of Flux and Argo CD. The registry has the signed charts of this checkout and of the last
release.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documentation.examples import files_of
from tests.e2e import typed_steps
from tests.e2e.typed_steps import Shell
from tests.harness import signatures
from tests.harness.cluster import loading, tools
from tests.harness.cluster.archive import unpack
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import argo, flux, operator, platform
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import CHARTS
from tests.harness.registry import running
from tools.release import chart_layout, charts
from tools.release.publish import publish

# The platform takes the place of the operator that other tests use. Flux and Argo CD take minutes to build.
pytestmark = [pytest.mark.alone, pytest.mark.long, pytest.mark.timeout(1800)]

PAGE = "docs/how-to/gitops.md"
STEPS = {tool: typed_steps.read(Path(__file__).with_name(f"{tool}.yaml")) for tool in ("flux", "argo")}
INSTALLED = ("training-job", "training-platform")
RELEASED = Path(__file__).parents[1] / "charts"
SIGNER = "releases@example.com"
# The run must not end while it is upgraded.
EPOCHS = ("--epochs, 90", "--epochs, 1000000")
NAMESPACES = ("ml", platform.NAMESPACE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the public keys of the publisher and of somebody else; COSIGN_PASSWORD is theirs."""
    folder = tmp_path_factory.mktemp("gitops")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COSIGN_PASSWORD", "of this test")
        signatures.cosign_keys(folder)
        other = signatures.cosign_keys(tmp_path_factory.mktemp("other"))
        (folder / "other.pub").write_bytes(other.with_suffix(".pub").read_bytes())
        yield folder


@pytest.fixture(scope="module")
def registry(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The place of the charts of this checkout and of the last release in a registry, such as 127.0.0.1:5000/charts."""
    made, home = (tmp_path_factory.mktemp(name) for name in ("charts", "gnupg"))
    packages = [(CHARTS / name, charts.package(CHARTS / name, made, 0)) for name in INSTALLED]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNUPGHOME", str(home))
        with signatures.keyring(home, SIGNER):
            for chart, package in packages:
                charts.sign(package, chart, SIGNER)
    for package in RELEASED.glob("*.tgz"):
        with tarfile.open(package) as archive:
            unpack(archive, made / package.stem)
        (chart,) = (made / package.stem).iterdir()
        packages.append((chart, package))
    chart_layout.write(packages, made / "oci", 0)
    with running(tmp_path_factory.mktemp("registry")) as address:
        assert list(publish(made, f"{address}/trainyard", folder / "release.key"))
        yield f"{address}/trainyard/charts"


@pytest.fixture(scope="module")
def site(cluster: Cluster, engine: Engine) -> Iterator[dict[str, Any]]:
    """The values of a platform that the nodes have images for, on a cluster without its parts."""
    repository, tag = loading.load(cluster, engine, "trainer").rsplit(":", 1)
    settings = {
        "runs.image": {"repository": repository, "tag": tag},
        "runs.checkpoints": {"storageClassName": "shared", "size": "1Gi"},
        "runs.resources": {"limits": {"cpu": "400m", "memory": "1Gi"}, "requests": {"cpu": "100m"}},
        "operator.enabled": True,
        **{f"operator.{name}": value for name, value in operator.images(cluster, engine).items()},
    }
    with platform.bare(cluster, engine):
        yield platform.merged({}, settings)


@pytest.fixture(scope="module")
def shell(
    request: pytest.FixtureRequest,
    cluster: Cluster,
    folder: Path,
    registry: str,
    site: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Shell]:
    """A terminal in a folder with the files of the page, beside Flux or Argo CD at work."""
    kept = tmp_path_factory.mktemp(request.param)
    tool: AbstractContextManager[None] = (
        flux.running(cluster, kept) if request.param == "flux" else argo.running(cluster, kept, f"oci://{registry}")
    )
    with tool:
        shell = Shell(folder, variables(cluster, folder, registry))
        for name, text in files_of(PAGE).items():
            shell.write(name, of_this_site(text, registry, site))
        shell.write("site.yaml", yaml.safe_dump(site))
        namespaces.create(cluster.kubeconfig, "ml")
        yield shell
        for name in NAMESPACES:
            namespaces.delete(cluster.kubeconfig, name)
        platform.remove_crds(cluster)


def variables(cluster: Cluster, folder: Path, registry: str) -> dict[str, str]:
    """Return the variables of the terminal."""
    tools.link(folder / "bin", ("helm", "kubectl"))
    versions = {name: str(charts.described(CHARTS / name)["version"]) for name in INSTALLED}
    return os.environ | {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "KUBECONFIG": str(cluster.kubeconfig),
        "CHARTS": f"oci://{registry}",
        "JOB": versions["training-job"],
        "PLATFORM": versions["training-platform"],
    }


def of_this_site(text: str, registry: str, site: dict[str, Any]) -> str:
    """Return a file of the page with the registry of the test, and the values of an Application with its images."""
    text = text.replace("registry.example.com/trainyard/charts", registry).replace(*EPOCHS)
    found = list(yaml.safe_load_all(text))
    if found[0]["kind"] != "Application":
        return text
    values = found[0]["spec"]["source"]["helm"]["valuesObject"]
    values |= site["runs"] if "nodes" in values else site
    return yaml.safe_dump_all(found, sort_keys=False)


@pytest.mark.parametrize(("shell", "tool"), [(tool, tool) for tool in STEPS], ids=STEPS, indirect=["shell"])
def test_each_step_of_a_user_ends_as_expected(shell: Shell, tool: str) -> None:
    for step in STEPS[tool]:
        shell.follow(step)
