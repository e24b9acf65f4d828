"""The address of a Ray cluster has the port of another protocol, so the connection fails or hangs.

The head listens on three ports. `ray start` and `ray.init` with a plain address connect to the control store, port
6379. An address with `ray://` leads to the server of Ray Client, port 10001. `ray job submit` sends HTTP to the
dashboard, port 8265.

The rule compares `ray start --address`, `ray job --address`, `RAY_ADDRESS` and a literal address in `ray.init` with
these ports. It leaves out ports that an option of the files moves.

Write the port of the protocol.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.ray_addresses import ray_addresses
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.ray_ports import LISTENERS
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Project
from trainyard.startup import pattern

ADDRESS = pattern(r"(?:(ray|https?)://)?[^\s:/@]+:(\d{2,5})/?")
BY_PORT = {listener.port: listener for listener in LISTENERS}
BY_SCHEME = {listener.scheme: listener for listener in LISTENERS}


@rule(
    code="RY025",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "docs.ray.io/en/latest/cluster/cli.html: ray start, --port, --ray-client-server-port",
        "docs.ray.io/en/latest/ray-core/configure.html: Head Node, ports",
        "github.com/ray-project/ray issue 21631",
    ),
    needs=("ray",),
)
def ray_address_port(container: Container, context: Context) -> Iterator[Problem]:
    """Report addresses whose port belongs to another protocol."""
    for value, at in ray_addresses(container, context):
        match = ADDRESS.fullmatch(value)
        if match is None:
            continue
        scheme = "http" if match[1] == "https" else match[1] or ""
        meant, reached = BY_SCHEME[scheme], BY_PORT.get(match[2])
        if reached is None or reached is meant or _moved.of(context.project):
            continue
        written = f"{scheme}://" if scheme else "a plain address"
        yield Problem(
            at,
            f"port {match[2]} of `{value}` belongs to {reached.name}, and {written} leads to {meant.name}",
            f"write port {meant.port}, or the address {reached.form}",
        )


def _is_moved(project: Project) -> bool:
    """True if an option gives a listener of Ray another port than its own."""
    commands = (command for run in project.runs for command in run.commands if command.program == "ray")
    if any((command.option(f"--{one.option}") or one.port) != one.port for command in commands for one in LISTENERS):
        return True
    params = (
        mapping(group, "rayStartParams")
        for resource in project.of_kind("RayCluster", "RayJob", "RayService")
        for group in _heads(resource.tree)
    )
    return any(str(written.get(one.option, one.port)) != one.port for written in params for one in LISTENERS)


def _heads(tree: dict[str, object]) -> Iterator[dict[str, object]]:
    for path in (("spec",), ("spec", "rayClusterSpec"), ("spec", "rayClusterConfig")):
        yield mapping(tree, *path, "headGroupSpec")


_moved: LastIndex[Project, bool] = LastIndex(_is_moved)
