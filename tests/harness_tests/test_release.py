"""The files of a release: complete, the same twice, and refused where a version does not say what changed."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import tenacity
import yaml

from tests.harness.checkout import copy
from tests.harness.cluster import tools
from tools.release.__main__ import check, release
from tools.release.charts import order, released
from tools.release.errors import ReleaseError
from trainyard import __version__

ROOT = Path(__file__).parents[2]
KEY = "releases@example.com"


def git(root: Path, *arguments: str) -> None:
    """Run git in a repository that has no configuration of a user."""
    person = ("-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgSign=false")
    subprocess.run(["git", *person, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path, path: str, text: str) -> None:
    """Commit a file with a text."""
    (root / path).write_text(text)
    git(root, "add", path)
    git(root, "commit", "--message", f"change {path}")


def entitle(root: Path, version: str = __version__) -> None:
    """Commit the changelog with the unreleased changes as those of a version, unless it has its section already."""
    text = (root / "CHANGELOG.md").read_text()
    if f"## {version} " in text:
        return
    commit(root, "CHANGELOG.md", text.replace("## Unreleased", f"## {version} - 2026-01-31", 1))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the tracked files of this one, as they are now, ready to be released."""
    root = tmp_path_factory.mktemp("checkout")
    copy(root)
    git(root, "init", "--quiet")
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "--message", "all files")
    entitle(root)
    return root


@pytest.fixture(scope="module")
def keyring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A key of GnuPG for this test, in the form that Helm reads."""
    home = tmp_path_factory.mktemp("gnupg")
    home.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNUPGHOME", str(home))
        make = ["gpg", "--batch", "--passphrase", "", "--quick-generate-key", KEY, "ed25519", "sign", "never"]
        subprocess.run(make, check=True, capture_output=True)
        subprocess.run(["gpg", "--batch", "--export", "--output", str(home / "public.gpg")], check=True)
        yield home / "public.gpg"
        subprocess.run(["gpgconf", "--kill", "all"], check=True)


@pytest.fixture(scope="module")
def files(checkout: Path, keyring: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a signed release."""
    return release(checkout, __version__, tmp_path_factory.mktemp("release"), KEY)


def test_a_release_has_every_chart_and_both_python_packages(checkout: Path, files: Path) -> None:
    charts = {chart.name for chart in released(checkout / "charts")}
    packages = {path.name for path in (files / "python").iterdir() if path.suffix != ".json"}

    assert {re.sub(r"-[\d.]+\.tgz$", "", path.name) for path in (files / "charts").glob("*.tgz")} == charts
    assert {"training-job", "training-platform"} < charts
    assert "common" not in charts
    for name in ("trainyard_cli", "trainyard_trainer"):
        assert any(one.startswith(name) and one.endswith(".whl") for one in packages)
        assert any(one.startswith(name) and one.endswith(".tar.gz") for one in packages)
    assert (files / "NOTES.md").read_text().startswith("### Added")


def test_the_checksums_are_those_of_all_files(files: Path) -> None:
    lines = [line.split("  ") for line in (files / "SHA256SUMS").read_text().splitlines()]
    listed = {name: digest for digest, name in lines}
    present = {str(path.relative_to(files)) for path in files.rglob("*") if path.is_file()} - {"SHA256SUMS"}

    assert set(listed) == present
    assert all(hashlib.sha256((files / name).read_bytes()).hexdigest() == digest for name, digest in listed.items())


def test_two_releases_have_the_same_bytes_except_for_signatures(checkout: Path, files: Path, tmp_path: Path) -> None:
    again = release(checkout, __version__, tmp_path)

    unsigned = {path.relative_to(files) for path in files.rglob("*") if path.suffix not in {".prov", ""}}
    assert unsigned == {path.relative_to(again) for path in again.rglob("*") if path.suffix}
    assert [path for path in unsigned if (files / path).read_bytes() != (again / path).read_bytes()] == []


def test_a_package_holds_its_parts_and_no_tests(files: Path) -> None:
    (package,) = (files / "charts").glob("training-platform-*.tgz")

    with tarfile.open(package) as archive:
        names = archive.getnames()
        owners = {(member.uid, member.uname, member.mtime) for member in archive.getmembers()}

    assert "training-platform/LICENSE" in names
    assert "training-platform/charts/training-operator/Chart.yaml" in names
    assert "training-platform/charts/common/Chart.yaml" in names
    assert [name for name in names if re.search(r"/(tests|ci|types)/", name)] == []
    assert len(owners) == 1


def test_a_bill_lists_parts_images_and_requirements(files: Path) -> None:
    def components(pattern: str) -> dict[str, str]:
        (bill,) = files.glob(pattern)
        return {one["purl"].partition("@")[0]: one["version"] for one in json.loads(bill.read_text())["components"]}

    operator = components("charts/training-operator-*.cdx.json")
    assert operator["pkg:helm/common"]
    image = yaml.safe_load((ROOT / "charts" / "training-operator" / "values.yaml").read_text())["image"]
    assert operator[f"pkg:docker/{image['repository']}"] == image["tag"]
    assert {"pkg:pypi/pyyaml", "pkg:pypi/click"} <= set(components("python/trainyard_cli-*.whl.cdx.json"))
    assert {"pkg:pypi/torch", "pkg:pypi/numpy"} == set(components("python/trainyard_trainer-*.whl.cdx.json"))


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running container registry."""
    folder = tmp_path_factory.mktemp("registry")
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    storage = {"filesystem": {"rootdirectory": str(folder / "data")}}
    (folder / "config.yml").write_text(json.dumps({"version": 0.1, "storage": storage, "http": {"addr": address}}))
    with (folder / "log").open("w") as log:
        command = [str(tools.binary("registry")), "serve", str(folder / "config.yml")]
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait(address)
            yield address
        finally:
            process.terminate()
            process.wait()


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(OSError), wait=tenacity.wait_fixed(0.1), stop=tenacity.stop_after_delay(60)
)
def _wait(address: str) -> None:
    connection = http.client.HTTPConnection(address, timeout=5)
    connection.request("GET", "/v2/")
    assert connection.getresponse().status == 200


def helm(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run one of the Helms."""
    command = [str(tools.binary(name)), *map(str, arguments)]
    environment = os.environ | {"KUBECONFIG": os.devnull}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture(scope="module")
def published(files: Path, registry: str) -> str:
    """The place of the charts in a registry, with those of the release."""
    place = f"oci://{registry}/charts"
    for package in (files / "charts").glob("*.tgz"):
        result = helm("helm4", "push", "--plain-http", package, place)
        assert result.returncode == 0, result.stderr
    return place


@pytest.mark.parametrize("name", ["helm", "helm4"])
def test_a_chart_of_a_registry_is_verified_and_renders_as_the_checkout(
    name: str, published: str, checkout: Path, keyring: Path, tmp_path: Path
) -> None:
    values = checkout / "charts" / "training-platform" / "ci" / "kind-values.yaml"
    pull: list[str | Path] = [
        "pull",
        "--plain-http",
        "--verify",
        "--keyring",
        keyring,
        "--untar",
        "--untardir",
        tmp_path,
    ]

    pulled = helm(name, *pull, f"{published}/training-platform")

    assert pulled.returncode == 0, pulled.stderr
    assert KEY in pulled.stdout + pulled.stderr
    ours, theirs = (
        helm(name, "template", "platform", place, "--kube-version", "1.34", "--values", values).stdout
        for place in (checkout / "charts" / "training-platform", tmp_path / "training-platform")
    )
    assert ours == theirs != ""


def test_a_changed_package_is_not_verified(files: Path, keyring: Path, tmp_path: Path) -> None:
    (package,) = (files / "charts").glob("training-job-*.tgz")
    for path in (package, package.with_name(f"{package.name}.prov")):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert helm("helm", "verify", "--keyring", keyring, tmp_path / package.name).returncode == 0
    with (tmp_path / package.name).open("ab") as file:
        file.write(b"x")

    result = helm("helm", "verify", "--keyring", keyring, tmp_path / package.name)

    assert result.returncode != 0
    assert "sha256 sum does not match" in result.stderr


@pytest.fixture
def clone(checkout: Path, tmp_path: Path) -> Path:
    """A clone whose last commit is tagged as the release before."""
    git(checkout, "clone", "--quiet", str(checkout), str(tmp_path / "clone"))
    git(tmp_path / "clone", "tag", "v0.0.9")
    return tmp_path / "clone"


def test_a_changed_chart_needs_a_raised_version(clone: Path) -> None:
    commit(clone, "charts/training-job/ci/another-values.yaml", "{}\n")
    check(clone, __version__)
    commit(clone, "charts/training-job/templates/extra/another.yaml", "{{/* nothing */}}\n")

    with pytest.raises(ReleaseError, match=r"raise `version` in Chart.yaml:\n  charts/training-job: version"):
        check(clone, __version__)

    chart = clone / "charts" / "training-job" / "Chart.yaml"
    raised = re.sub(r"^version: .*$", "version: 99.0.0", chart.read_text(), flags=re.MULTILINE)
    commit(clone, "charts/training-job/Chart.yaml", raised)
    check(clone, __version__)


def test_changes_that_are_not_committed_are_refused(clone: Path) -> None:
    (clone / "README.md").write_text("other\n")

    with pytest.raises(ReleaseError, match=r"1 files differ .*\n.*README.md"):
        check(clone, __version__)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.2", "'1.2' is no semantic version"),
        ("", "'' is no semantic version"),
        ("99.0.0", rf"pyproject.toml has version {re.escape(__version__)}"),
    ],
)
def test_a_version_that_the_commit_does_not_have_is_refused(checkout: Path, version: str, message: str) -> None:
    with pytest.raises(ReleaseError, match=message):
        check(checkout, version)


def test_a_release_without_notes_is_refused(clone: Path) -> None:
    text = (clone / "CHANGELOG.md").read_text()
    commit(clone, "CHANGELOG.md", text.replace(f"## {__version__} ", "## 0.0.1 ", 1))
    with pytest.raises(ReleaseError, match=r"has no section `## "):
        check(clone, __version__)

    commit(clone, "CHANGELOG.md", f"# Changelog\n\n## {__version__}\n\n## 0.0.1\n\nText.\n")
    with pytest.raises(ReleaseError, match=r"is empty"):
        check(clone, __version__)


def test_a_refusal_is_one_message_and_leaves_the_older_files(checkout: Path, tmp_path: Path) -> None:
    kept = tmp_path / "out" / "99.0.0" / "NOTES.md"
    kept.parent.mkdir(parents=True)
    kept.write_text("kept")
    command = [
        sys.executable,
        "-m",
        "tools.release",
        "99.0.0",
        "--root",
        str(checkout),
        "--output",
        str(tmp_path / "out"),
    ]

    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert result.returncode == 1
    assert result.stderr.startswith("error: pyproject.toml has version")
    assert kept.read_text() == "kept"


def test_versions_are_ordered_as_semver_says() -> None:
    versions = ["0.2.10", "1.0.0", "0.10.0", "1.0.0-rc.1", "0.2.9"]
    assert sorted(versions, key=order) == ["0.2.9", "0.2.10", "0.10.0", "1.0.0-rc.1", "1.0.0"]
