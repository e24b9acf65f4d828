"""Commands of the tutorials that need a cluster, on a run of a test: what they print is what the pages show."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.documentation import examples
from tests.harness.cluster import tools
from tests.harness.jobs.run import Run

_ANYTHING = "..."
# Numbers, and who was the first of two that failed in the same second.
_CHANGING = (
    (r"; \S+ failed in the same second", ""),
    (r"run/\S+?:\d+", "FILE"),
    (r"-(?:master|worker)-\d+", "-POD"),
    (r"\d+(?:\.\d+)*", "0"),
    (r"\s+", " "),
)


def follow(page: str, run: Run, *, release: str, after: str = "") -> list[str]:
    """Run the commands that a page shows with an output of a cluster, and return the lines that do not fit.

    Args:
        page: Name of the tutorial.
        run: The run that stands for the one of the page.
        release: Name of the run on the page.
        after: Heading below which the commands stand; by default all of them.
    """
    path = f"docs/tutorials/{page}.md"
    text = (examples.ROOT / path).read_text()
    first = text[: text.index(f"## {after}")].count("\n") + 1 if after else 1
    shown = [one for one in examples.of_pages() if one.page == path and one.line >= first and one.output]
    live = [one for one in shown if re.match(r"trainyard (?:status|logs|top|doctor --run)", one.command)]
    assert live
    return [line for one in live for line in _differences(one, run, release)]


def _differences(example: examples.Example, run: Run, release: str) -> list[str]:
    command = example.command.replace(" -n ml", "").split()
    words = [run.release if word == release else word for word in command[1:]]
    printed = call(run, *words)
    place = {run.namespace: "ml", run.release: release, f"{run.cluster.name}-": ""}
    for here, there in place.items():
        printed = printed.replace(here, there)
    found = {_stable(line) for line in printed.splitlines()}
    wanted = {_stable(line) for line in example.output.splitlines()}
    differing = [f"{example}: not printed: {line}" for line in sorted(wanted - found - {_ANYTHING})]
    if _ANYTHING not in wanted:
        differing += [f"{example}: not shown: {line}" for line in sorted(found - wanted)]
    return [*differing, printed] if differing else []


def _stable(line: str) -> str:
    for pattern, replacement in _CHANGING:
        line = re.sub(pattern, replacement, line)
    return line.strip()


def call(run: Run, *words: str) -> str:
    """Run a command of `trainyard` in the namespace of a run, with kubectl and helm on PATH, and return its output."""
    programs = {str(tools.binary(name).parent) for name in ("kubectl", "helm")}
    path = os.pathsep.join((*programs, os.environ["PATH"]))
    finished = subprocess.run(
        [sys.executable, "-m", "trainyard", *words, "--namespace", run.namespace],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PATH": path, "KUBECONFIG": str(run.cluster.kubeconfig)},
    )
    assert "Traceback (most" not in finished.stderr, finished.stderr
    return finished.stdout + finished.stderr
