"""Each step of `steps.yaml`: a stranger installs a release from its files and a registry, and not from this repository.

The terminal has the programs that a stranger has: Python, kubectl, Helm, and those of the operating system.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.e2e import typed_steps
from tests.e2e.typed_steps import Shell, Step
from tests.harness import signatures
from tests.harness.checkout import repository
from tests.harness.cluster import loading, tools
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs import operator, platform
from tests.harness.registry import running
from tools.release import images
from tools.release.__main__ import release
from tools.release.publish import publish
from trainyard import __version__

# The platform takes the place of the operator that other tests use. The release alone takes three minutes.
pytestmark = [pytest.mark.alone, pytest.mark.long]

STEPS = typed_steps.read(Path(__file__).with_name("steps.yaml"))
SIGNER = "releases@example.com"
NAMESPACES = ("ml", "monitoring", platform.NAMESPACE)
# Of these tests' variables, those that name a package index or a certificate.
KEPT = ("PIP_", "SSL_", "REQUESTS_", "HTTPS_PROXY", "https_proxy", "HOME")


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
            made = release(checkout, __version__, folder, key=SIGNER, cosign_key=key, image_names=images.NAMES)
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
    with platform.bare(cluster, engine):
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


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.step)
def test_a_step_of_a_stranger_ends_as_expected(step: Step, shell: Shell) -> None:
    shell.follow(step)
