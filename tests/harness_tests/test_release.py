"""The files of a release: complete, signed, the same twice, and refused where a version does not say what changed."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.harness import pythons, signatures
from tests.harness.checkout import commit, git, repository
from tests.harness.cluster import tools
from tests.harness.registry import running
from tests.harness.signatures import signing
from tools.release import address, chart_layout, site, source, sums
from tools.release.__main__ import check, release
from tools.release.charts import order, released
from tools.release.errors import ReleaseError
from tools.release.publish import publish
from trainyard import __version__

ROOT = Path(__file__).parents[2]
KEY = "releases@example.com"
URL = "https://example.com/trainyard"
PYTHONS = pythons.supported()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the tracked files of this one, as they are now, ready to be released."""
    return repository(tmp_path_factory.mktemp("checkout"), __version__)


@pytest.fixture(scope="module")
def keyring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A key of GnuPG for this test, in the form that Helm reads."""
    home = tmp_path_factory.mktemp("gnupg")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNUPGHOME", str(home))
        with signatures.keyring(home, KEY) as public:
            yield public


@pytest.fixture(scope="module")
def cosign_keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The private key of a pair of cosign for this test, with its password in the environment; `.pub` is beside it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COSIGN_PASSWORD", "of this test")
        yield signatures.cosign_keys(tmp_path_factory.mktemp("cosign"))


@pytest.fixture(scope="module")
def files(checkout: Path, keyring: Path, cosign_keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a signed release."""
    folder = tmp_path_factory.mktemp("release")
    return release(checkout, __version__, folder, key=KEY, cosign_key=cosign_keys, url=URL)


def test_a_release_has_every_chart_and_both_python_packages(checkout: Path, files: Path) -> None:
    charts = {chart.name for chart in released(checkout / "charts")}
    packages = {path.name for path in (files / "python").iterdir() if path.suffix != ".json"}

    assert {name_of(path) for path in (files / "charts").glob("*.tgz")} == charts
    assert {"training-job", "training-platform"} < charts
    assert "common" not in charts
    for name in ("trainyard_cli", "trainyard_trainer"):
        assert any(one.startswith(name) and one.endswith(".whl") for one in packages)
        assert any(one.startswith(name) and one.endswith(".tar.gz") for one in packages)
    assert (files / "NOTES.md").read_text().startswith("### Added")


def test_the_checksums_are_those_of_all_files(files: Path) -> None:
    lines = [line.split("  ") for line in (files / "SHA256SUMS").read_text().splitlines()]
    listed = {name: digest for digest, name in lines}
    present = {str(path.relative_to(files)) for path in files.rglob("*") if path.is_file()}

    assert set(listed) == present - {"SHA256SUMS", "SHA256SUMS.sig"}
    assert all(hashlib.sha256((files / name).read_bytes()).hexdigest() == digest for name, digest in listed.items())


def test_two_releases_have_the_same_bytes_except_for_signatures(checkout: Path, files: Path, tmp_path: Path) -> None:
    again = release(checkout, __version__, tmp_path, url=URL)

    def unsigned(folder: Path) -> set[Path]:
        found = {path.relative_to(folder) for path in folder.rglob("*") if path.suffix not in {".prov", ".sig", ""}}
        # The layout holds the provenance of signed charts.
        return {path for path in found if path.parts[0] != "oci"}

    assert unsigned(files) == unsigned(again)
    assert [path for path in unsigned(files) if (files / path).read_bytes() != (again / path).read_bytes()] == []
    source.export(checkout, tmp_path / "checkout")
    address.write(tmp_path / "checkout", URL)
    charts = tmp_path / "checkout" / "charts"
    packages = [(charts / name_of(path), path) for path in sorted((again / "charts").glob("*.tgz"))]
    chart_layout.write(packages, tmp_path / "oci", source.time_of(checkout))
    assert blobs(tmp_path / "oci") == blobs(again / "oci")


@pytest.mark.long
def test_the_site_has_the_same_bytes_twice(checkout: Path, tmp_path: Path) -> None:
    source.export(checkout, tmp_path / "checkout")
    (tmp_path / "again").mkdir()
    first, again = (site.write(tmp_path / "checkout", folder, 0) for folder in (tmp_path, tmp_path / "again"))

    assert first.read_bytes() == again.read_bytes()
    with tarfile.open(first) as archive:
        assert {"site/index.html", "site/quickstart/index.html"} <= set(archive.getnames())


def name_of(package: Path) -> str:
    """Return the name of the chart in a package."""
    return re.sub(r"-[\d.]+\.tgz$", "", package.name)


def blobs(layout: Path) -> set[str]:
    """Return the names of the blobs of a layout, which are the digests of their contents."""
    found = {path.name: path for path in (layout / "blobs" / "sha256").iterdir()}
    assert all(hashlib.sha256(path.read_bytes()).hexdigest() == name for name, path in found.items())
    return set(found)


def test_the_signature_of_the_checksums_belongs_to_them_and_the_key(
    files: Path, cosign_keys: Path, tmp_path: Path
) -> None:
    # OpenSSL knows nothing of cosign, whose signatures of files are plain ones.
    signature = tmp_path / "signature"
    signature.write_bytes(base64.b64decode((files / "SHA256SUMS.sig").read_text()))
    other = tmp_path / "SHA256SUMS"
    other.write_text((files / "SHA256SUMS").read_text() + "\n")

    def verify(content: Path) -> int:
        public = cosign_keys.with_suffix(".pub")
        command: list[str | Path] = ["openssl", "dgst", "-sha256", "-verify", public, "-signature", signature, content]
        return subprocess.run(command, capture_output=True, check=False).returncode

    assert verify(files / "SHA256SUMS") == 0
    assert verify(other) != 0


def test_a_wrong_password_is_one_message(files: Path, cosign_keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COSIGN_PASSWORD", "another")
    with pytest.raises(ReleaseError, match=r"cannot be signed: .*is no private key of cosign for COSIGN_PASSWORD"):
        sums.sign(files / "SHA256SUMS", cosign_keys)


def test_no_key_is_overwritten(cosign_keys: Path) -> None:
    before = cosign_keys.read_bytes()
    result = signing("keys", cosign_keys.with_suffix(""))
    assert result.returncode != 0
    assert "file exists" in result.stderr
    assert cosign_keys.read_bytes() == before


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


def test_charts_and_packages_link_to_the_address_of_the_project(files: Path) -> None:
    (package,) = (files / "charts").glob("training-platform-*.tgz")
    with tarfile.open(package) as archive:
        names = [name for name in archive.getnames() if name.endswith("Chart.yaml")]
        abouts = [yaml.safe_load(archive.extractfile(name) or b"") for name in names]
    assert len(abouts) > 1
    assert all((about["home"], about["sources"]) == (URL, [URL]) for about in abouts)

    for pattern in ("trainyard_cli-*.whl", "trainyard_trainer-*.whl"):
        (wheel,) = (files / "python").glob(pattern)
        with zipfile.ZipFile(wheel) as contents:
            (metadata,) = (name for name in contents.namelist() if name.endswith("/METADATA"))
            assert f"Project-URL: Homepage, {URL}" in contents.read(metadata).decode().splitlines()


@pytest.mark.parametrize("url", ["trainyard", "http://example.com", "https:///trainyard", 'https://example.com/"x'])
def test_an_address_that_nobody_can_open_is_refused(url: str, checkout: Path, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"is not an address of a project\. Write one such as https://"):
        release(checkout, __version__, tmp_path, url=url)
    assert list(tmp_path.iterdir()) == []


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


@pytest.mark.parametrize("version", sorted(PYTHONS))
@pytest.mark.parametrize("pattern", ["trainyard_cli-*.whl", "trainyard_cli-*.tar.gz"], ids=["wheel", "sdist"])
def test_the_command_line_works_where_nothing_else_is_installed(
    version: str, pattern: str, files: Path, tmp_path: Path
) -> None:
    (package,) = (files / "python").glob(pattern)
    uv = [sys.executable, "-m", "uv", "--quiet"]
    subprocess.run([*uv, "venv", "--no-project", "--python", PYTHONS[version], "clean"], cwd=tmp_path, check=True)
    subprocess.run([*uv, "pip", "install", "--python", "clean", package], cwd=tmp_path, check=True)
    (tmp_path / "run.yaml").write_text("nodes: 2\nenv:\n  NCCL_IB_DISABLE: 'true'\n")

    # From a folder that has neither this repository nor its charts, and without variables that name them.
    program = tmp_path / "clean" / "bin" / "trainyard"
    printed = subprocess.run(
        [program, "lint", "run.yaml"], cwd=tmp_path, env={"HOME": str(tmp_path)}, capture_output=True, text=True
    )

    assert printed.returncode == 1, printed.stderr
    assert "run.yaml:3:20: error NC005" in printed.stdout


@pytest.mark.parametrize("version", sorted(PYTHONS))
def test_the_trainer_is_installed_and_compiled_by_each_python(version: str, files: Path, tmp_path: Path) -> None:
    """Without PyTorch, which takes gigabytes for each Python: `tests/trainer/test_recipes.py` imports the wheel."""
    (package,) = (files / "python").glob("trainyard_trainer-*.tar.gz")
    install = [sys.executable, "-m", "uv", "--quiet", "pip", "install", "--target", "clean", "--no-deps"]
    subprocess.run([*install, "--python", PYTHONS[version], package], cwd=tmp_path, check=True)

    compiled = subprocess.run([PYTHONS[version], "-W", "error", "-m", "compileall", "-q", "clean"], cwd=tmp_path)

    assert compiled.returncode == 0
    assert (tmp_path / "clean" / "trainyard_trainer" / "library" / "__init__.py").exists()


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running container registry."""
    with running(tmp_path_factory.mktemp("registry")) as address:
        yield address


def helm(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run one of the Helms."""
    command = [str(tools.binary(name)), *map(str, arguments)]
    environment = os.environ | {"KUBECONFIG": os.devnull}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture(scope="module")
def pushed(files: Path, registry: str, cosign_keys: Path) -> list[str]:
    """The references of the release in a registry, each with its digest."""
    return list(publish(files, f"{registry}/trainyard", cosign_keys))


@pytest.fixture(scope="module")
def published(pushed: list[str], registry: str) -> str:
    """The place of the charts in a registry, with those of the release."""
    assert pushed
    return f"oci://{registry}/trainyard/charts"


def test_every_chart_of_a_registry_has_a_signature_of_cosign(
    pushed: list[str], registry: str, files: Path, cosign_keys: Path, tmp_path: Path
) -> None:
    packages = {path.stem for path in (files / "charts").glob("*.tgz")}
    assert {one.rpartition("/")[2].partition("@")[0].replace(":", "-") for one in pushed} == packages
    assert signing("verify", "--key", cosign_keys.with_suffix(".pub"), *pushed).returncode == 0

    assert signing("keys", tmp_path / "other").returncode == 0
    result = signing("verify", "--key", tmp_path / "other.pub", pushed[0])
    assert result.returncode != 0
    assert "signature" in result.stderr


def test_a_chart_without_a_signature_is_not_verified(files: Path, registry: str, cosign_keys: Path) -> None:
    (reference, *_) = publish(files, f"{registry}/unsigned")
    result = signing("verify", "--key", cosign_keys.with_suffix(".pub"), reference)
    assert result.returncode != 0
    assert "no signatures" in result.stderr


def test_only_a_release_is_published(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"has no oci/index.json. Run `make release` first"):
        list(publish(tmp_path, "registry.example.com/trainyard"))


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
