"""Lists every pin with the newest release: `python -m tools.outdated` asks the indexes of Go, Python and npm.

The pins stand in the `go.mod` files of `tests/harness/cluster/tools`, in `pyproject.toml` and in the `package.json`
files of `NPM_FOLDERS`, and nowhere else. The exit status is 1 if one is behind. A pin without an answer is unknown,
and counts as not behind. The oldest Kubernetes is left out.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from packaging.version import Version
from rich.table import Table

from tests.harness import npm
from tests.harness.cluster import tools
from tests.harness.cluster.progress import console

ROOT = Path(__file__).parents[1]
NPM_FOLDERS = ("tests/harness/grafana/page", "tools/site/browser")
PYTHON_PIN = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[^]]*\])?==(?P<version>\S+)")
# The proxy answers each folder by itself.
PARALLEL = 8


class Pin(NamedTuple):
    """A pinned release; `place` is the folder of its go.mod or package.json, or the group in pyproject.toml."""

    place: str
    name: str
    version: str


class Row(NamedTuple):
    """A pin and the newest release; None if it is not known."""

    pin: Pin
    newest: str | None

    @property
    def is_behind(self) -> bool:
        """True if there is a newer release."""
        return self.newest is not None and self.newest != self.pin.version


def go_pins(folder: Path = tools.FOLDER) -> Iterator[Pin]:
    """Yields the modules of the tools themselves, without those that they depend on."""
    for file in sorted(folder.glob("*/go.mod")):
        if file.parent.name == tools.KUBERNETES["oldest"]:
            continue
        described = json.loads(_go(["mod", "edit", "-json"], file.parent))
        packages = [tool["Path"] for tool in described.get("Tool") or ()]
        required = {one["Path"]: one for one in described.get("Require") or ()}
        own = {_module_of(package, required) for package in packages}
        own |= {path for path, one in required.items() if not one.get("Indirect")}
        for path in sorted(own & set(required)):
            yield Pin(file.parent.name, path, required[path]["Version"])


def _module_of(package: str, modules: Sequence[str] | dict[str, object]) -> str:
    """Returns the module of a package: the longest that its path starts with."""
    return max((path for path in modules if f"{package}/".startswith(f"{path}/")), key=len, default="")


def python_pins(project: Path = ROOT / "pyproject.toml") -> Iterator[Pin]:
    """Yields the pinned packages of all dependency groups, each once."""
    found: set[str] = set()
    for group, requirements in tomllib.loads(project.read_text(encoding="utf-8"))["dependency-groups"].items():
        for requirement in requirements:
            match = PYTHON_PIN.fullmatch(requirement) if isinstance(requirement, str) else None
            if match and match["name"] not in found:
                found.add(match["name"])
                yield Pin(f"group {group}", match["name"], match["version"])


def npm_pins(root: Path = ROOT) -> Iterator[Pin]:
    """Yields the packages of each package.json: those that draw dashboards, and those of the site."""
    for folder in NPM_FOLDERS:
        described = json.loads((root / folder / "package.json").read_text(encoding="utf-8"))
        for name, version in {**described["dependencies"], **described.get("devDependencies", {})}.items():
            yield Pin(folder, name, version)


def newest_modules(pins: Sequence[Pin], folder: Path = tools.FOLDER) -> list[Row]:
    """Returns the pins of Go with what the module proxy answers."""
    with ThreadPoolExecutor(PARALLEL) as pool:
        return list(pool.map(lambda pin: Row(pin, _newest_module(pin, folder / pin.place)), pins))


def _newest_module(pin: Pin, folder: Path) -> str | None:
    try:
        answer = json.loads(_go(["list", "-m", "-u", "-json", pin.name], folder))
    except subprocess.CalledProcessError:
        return None
    if "Error" in answer:
        return None
    return str(answer.get("Update", answer)["Version"])


def newest_packages(pins: Sequence[Pin]) -> list[Row]:
    """Returns the pins of Python with the newest release for this Python that the index has."""
    names = "".join(f"{pin.name}\n" for pin in pins)
    command = ["uv", "pip", "compile", "--quiet", "--no-deps", "--no-header", "--no-annotate", "-"]
    answer = subprocess.run(command, check=False, input=names, capture_output=True, text=True)
    newest = {_normal(match["name"]): match["version"] for match in PYTHON_PIN.finditer(answer.stdout)}
    return [Row(pin, _newer(pin.version, newest.get(_normal(pin.name)))) for pin in pins]


def newest_of_npm(pins: Sequence[Pin]) -> list[Row]:
    """Returns the pins of npm with the release that its index names as the latest."""
    with ThreadPoolExecutor(PARALLEL) as pool:
        return list(pool.map(lambda pin: Row(pin, _latest(pin)), pins))


def _latest(pin: Pin) -> str | None:
    command: list[str | Path] = [npm.NODE, npm.NPM, "view", pin.name, "dist-tags.latest"]
    answer = subprocess.run(command, check=False, capture_output=True, text=True)
    return answer.stdout.strip() or None


def _newer(pinned: str, found: str | None) -> str | None:
    """Returns the newer of both: an index may know fewer releases than the one that the pin came from."""
    return None if found is None else max(pinned, found, key=Version)


def _normal(name: str) -> str:
    """Returns the name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _go(words: Sequence[str], folder: Path) -> str:
    """Returns what `go` prints in the folder of a go.mod, which it does not change."""
    command = [tools.go(), *words]
    return subprocess.run(
        command, check=True, cwd=folder, capture_output=True, text=True, env=tools.go_environment()
    ).stdout


def table(rows: Sequence[Row]) -> Table:
    """A table of all pins, those that are behind in bold."""
    shown = Table("place", "pin", "version", "newest")
    for row in rows:
        newest = row.newest or "unknown"
        shown.add_row(*row.pin, newest, style="bold" if row.is_behind else None)
    return shown


def main() -> int:
    """Prints the table; returns 1 if a pin is behind."""
    rows = [
        *newest_modules(list(go_pins())),
        *newest_packages(list(python_pins())),
        *newest_of_npm(list(npm_pins())),
    ]
    console.print(table(rows))
    behind, unknown = sum(row.is_behind for row in rows), sum(row.newest is None for row in rows)
    console.print(f"{len(rows)} pins: {behind} behind, {unknown} unknown.")
    return int(behind > 0)


if __name__ == "__main__":
    sys.exit(main())
