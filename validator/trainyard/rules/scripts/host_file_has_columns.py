"""Lines of a host file hold more than a host, and the launcher takes the whole line for its name.

`colossalai run --hostfile` reads one host name from each line. `worker-0 slots=8`, the form of Open MPI and DeepSpeed,
becomes the name of a host that ssh does not find. The number of processes is the option `--nproc_per_node`.

The rule reads a key of a ConfigMap that the command names, in the same ConfigMap or in a container.

Leave the name alone on the line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.loaders.manifests.shell import parse_script
from trainyard.model.run import Command, Project


@rule(
    code="SC060",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "hpcaitech/ColossalAI 4f9953be colossalai/cli/launcher/run.py: fetch_hostfile",
        "github.com/hpcaitech/ColossalAI issue 5965",
    ),
    needs=("colossalai",),
)
def host_file_has_columns(project: Project) -> Iterator[Problem]:
    """Report lines of a host file with several words."""
    started = {name for run in project.runs for command in run.commands if (name := _host_file(command))}
    maps = [(resource, mapping(resource.tree, "data")) for resource in project.of_kind("ConfigMap")]
    holders = Counter(key for _, data in maps for key in data if key in started)
    for resource, data in maps:
        beside = {
            name
            for key, raw in data.items()
            if isinstance(raw, str) and "colossalai" in raw
            for command in parse_script(raw, resource.at.child("data", key))[0]
            if (name := _host_file(command))
        }
        for key, raw in data.items():
            is_only = holders[key] == 1
            for number, line in enumerate(
                raw.split("\n") if isinstance(raw, str) and (key in beside or is_only) else ()
            ):
                if len(line.split()) > 1 and "{{" not in line:
                    message = f"`colossalai run` takes all of `{line.strip()}` for the name of a host: ssh finds none"
                    at = resource.at.child("data", key).below(number)
                    yield Problem(at, message, f"write `{line.split()[0]}` alone")


def _host_file(command: Command) -> str:
    """Returns the name of the host file of `colossalai run`, without its folder."""
    is_start = command.program == "colossalai" and "run" in command.words[1:2]
    return (command.option("--hostfile") or "").rpartition("/")[2] if is_start else ""
