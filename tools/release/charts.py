"""Packages of the charts, with their parts inside, and the provenance of each."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.harness.cluster import tools
from tools.release import archives
from tools.release.errors import ReleaseError
from tools.release.source import git

# What no package contains, see the .helmignore of the charts. A change there needs no new version.
LEFT_OUT = ("ci", "image", "tests", "types", ".schema.yaml", ".helmignore", "README.md.gotmpl")
SEMVER = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.-]+)?")


def released(folder: Path) -> list[Path]:
    """Return the charts that users install. A library is only a part of others."""
    charts = sorted(path.parent for path in folder.glob("*/Chart.yaml"))
    return [chart for chart in charts if described(chart)["type"] != "library"]


def described(chart: Path) -> dict[str, Any]:
    """Return the Chart.yaml of a chart."""
    about: dict[str, Any] = yaml.safe_load((chart / "Chart.yaml").read_text(encoding="utf-8"))
    return about


def package(chart: Path, target: Path, seconds: int) -> Path:
    """Write the package of a chart into `target` and return its path."""
    command = [str(tools.binary("helm4")), "package", str(chart), "--destination", str(target)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise ReleaseError(f"helm package failed for {chart.name}: {result.stderr.strip()}")
    about = described(chart)
    path = target / f"{about['name']}-{about['version']}.tgz"
    archives.normalize(path, seconds)
    return path


def sign(package: Path, chart: Path, key: str) -> Path:
    """Write the provenance of a package beside it, signed with a key of GnuPG; `helm verify` checks it.

    `helm package --sign` signs only what it packages itself. The format is that of the page "Helm Provenance and
    Integrity" of Helm's documentation: Chart.yaml, a line `...`, and the digest of the package.
    """
    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    sums = yaml.safe_dump({"files": {package.name: f"sha256:{digest}"}})
    message = f"{yaml.safe_dump(described(chart), sort_keys=True)}\n...\n{sums}"
    target = package.with_name(f"{package.name}.prov")
    command = ["gpg", "--batch", "--yes", "--local-user", key, "--clear-sign", "--output", str(target)]
    result = subprocess.run(command, input=message, capture_output=True, text=True, check=False)
    if result.returncode:
        raise ReleaseError(f"gpg cannot sign with the key {key!r}: {result.stderr.strip()}")
    return target


def require_raised_versions(root: Path, last: str) -> None:
    """Refuse charts that changed since the last release and have its version, or a lower one."""
    kept = [fault for chart in released(root / "charts") if (fault := _kept_version(root, chart, last))]
    if kept:
        raise ReleaseError("These charts changed, so raise `version` in Chart.yaml:\n" + "\n".join(kept))


def _kept_version(root: Path, chart: Path, last: str) -> str | None:
    """Return the sentence on a changed chart whose version is not above that of the last release."""
    place = str(chart.relative_to(root))
    unpacked = [f":(exclude){place}/{name}" for name in LEFT_OUT]
    changed = git(root, "diff", "--name-only", last, "HEAD", "--", place, *unpacked).splitlines()
    if not changed or not git(root, "ls-tree", last, f"{place}/Chart.yaml"):
        return None
    before = yaml.safe_load(git(root, "show", f"{last}:{place}/Chart.yaml"))["version"]
    now = described(chart)["version"]
    if order(now) > order(before):
        return None
    return f"  {place}: version {now}, and {last} has {before}; changed: {', '.join(changed[:3])}"


def order(version: str) -> tuple[int, int, int, bool]:
    """Return the key that sorts semantic versions. A pre-release comes before its release."""
    match = SEMVER.fullmatch(version)
    if match is None:
        raise ReleaseError(f"{version!r} is no semantic version, which has three numbers, such as 0.3.0")
    major, minor, patch = (int(number) for number in match.groups())
    return major, minor, patch, "-" not in version
