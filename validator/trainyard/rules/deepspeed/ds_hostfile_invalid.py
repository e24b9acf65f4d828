"""The host file or the choice of hosts contradicts itself, so the deepspeed launcher stops before it starts any rank.

Each line of the file is `HOST slots=NUMBER`, and each host occurs once: anything else is a "bad entry". `--include`
and `--exclude` name hosts and slots of the file, counted from 0. They exclude each other, and neither goes together
with `--num_gpus` or `--num_nodes`.

The only pod of a run reaches no host with another name, unless a Service or a pod of the files has it.

Without a host file, `localhost` is the only host, with the GPUs of the container, and `--num_nodes` is 1.

The rule reads host files in ConfigMaps that the launcher's container mounts. Without `--hostfile`, that is
`/job/hostfile`.

Correct the line, or remove one of the options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.launchers.launcher_options import Start, starts
from trainyard.analysis.pods.mounted_files import mounted_text
from trainyard.analysis.pods.mounts import mount_of
from trainyard.document.document import Place
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container

_DEFAULT = "/job/hostfile"
_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?\Z")
_ENTRY = re.compile(r"(\S+)\s+slots=(\d+)")


@rule(
    code="DS025",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "deepspeedai/DeepSpeed 0.19.8 launcher/runner.py: _parse_hostfile, parse_resource_filter, main",
        "github.com/deepspeedai/DeepSpeed issues 3625 and 3669, github.com/thu-coai/EVA issue 4",
    ),
    needs=("deepspeed",),
)
def ds_hostfile_invalid(container: Container, context: Context) -> Iterator[Problem]:
    """Report entries and options that the launcher refuses."""
    for start in starts(container):
        if "--hostfile" not in start.launcher.valued:
            continue
        chosen = {name: _option(start, *names) for name, names in _NAMES.items()}
        include, exclude, count = chosen["include"], chosen["exclude"], chosen["count"]
        if include is not None and (exclude is not None or count is not None):
            other = "--exclude" if exclude is not None else "--num_gpus and --num_nodes"
            yield Problem(include[1], f"--include does not go with {other}: the launcher stops", "remove one")
        elif exclude is not None and count is not None:
            yield Problem(exclude[1], "--exclude does not go with --num_gpus and --num_nodes: it stops", "remove one")
        path = (_option(start, "--hostfile", "-H") or (_DEFAULT, start.command.at))[0]
        slots: dict[str, int] = {}
        known = mounted_text(path, container, context)
        option = include or exclude
        for number, line in enumerate(known[0].split("\n") if known is not None else ()):
            yield from _entry(line.strip(), known[1].below(number) if known is not None else container.at, slots)
        if known is not None:
            yield from _unreachable(known, slots, context)
        is_absent = known is None and mount_of(container, path) is None and not _option(start, "--hostfile", "-H")
        if is_absent and not any("hostfile" in script.text for script in container.scripts):
            yield from _without_file(start, option, container)
        if option is not None and slots and "$" not in option[0]:
            yield from _absent(option, slots)


def _unreachable(known: tuple[str, Place], slots: dict[str, int], context: Context) -> Iterator[Problem]:
    """Reports the host of a run with one pod if nothing in the files has its name."""
    run, pod = context.run, context.pod
    host = next(iter(slots), "")
    if run is None or pod is None or len(slots) != 1 or run.nodes != 1 or pod.host_network or not _LABEL.match(host):
        return
    names = {"localhost", run.name, str(pod.tree.get("hostname", ""))}
    resources = context.project.resources
    names |= {one.name for one in resources if one.kind in ("Service", "Pod", "StatefulSet")}
    is_aliased = "hostAliases" in pod.tree or any(host.startswith(f"{name}-") for name in names if name)
    if host in names or is_aliased:
        return
    line = next((n for n, text in enumerate(known[0].split("\n")) if text.strip().startswith(host)), 0)
    message = f"nothing in these files is called `{host}`, and the run has one pod: ssh does not find it"
    yield Problem(known[1].below(line), message, "write `localhost`, or remove `--hostfile`")


def _without_file(start: Start, option: tuple[str, Place] | None, container: Container) -> Iterator[Problem]:
    """Reports several nodes, and GPUs that the only host does not have."""
    nodes = _option(start, "--num-nodes")
    if nodes is not None and (decimal(nodes[0]) or 0) > 1 and not start.has("--no-ssh"):
        message = f"there is no host file, so the launcher knows one node and not {nodes[0]}: it stops"
        yield Problem(nodes[1], message, "mount a host file and name it with --hostfile")
    if option is not None and container.gpus and option[0].startswith("localhost:") and "$" not in option[0]:
        beyond = [slot for slot in option[0][10:].split(",") if slot.isdecimal() and int(slot) >= container.gpus]
        if beyond:
            message = f"the container has {container.gpus} GPUs, counted from 0, and no slot {beyond[0]}: it stops"
            yield Problem(option[1], message, "write the numbers of its GPUs")


_NAMES = {
    "include": ("--include", "-i"),
    "exclude": ("--exclude", "-e"),
    "count": ("--num-gpus", "--num-nodes", "--num-accelerators"),
}


def _option(start: Start, *names: str) -> tuple[str, Place] | None:
    words = start.command.words
    for word, index in start.options:
        name, equals, value = word.partition("=")
        if name.replace("_", "-") in names and (equals or index + 1 < len(words)):
            return (value, start.place(index)) if equals else (words[index + 1], start.place(index + 1))
    return None


def _entry(line: str, at: Place, slots: dict[str, int]) -> Iterator[Problem]:
    if not line or line.startswith("#"):
        return
    match = _ENTRY.match(line)
    if match is None:
        yield Problem(at, f"`{line}` is not an entry of a host file: the launcher stops", "write `HOST slots=NUMBER`")
    elif match[1] in slots:
        yield Problem(at, f"host `{match[1]}` occurs twice: the launcher stops", "write one line for each host")
    else:
        slots[match[1]] = int(match[2])


def _absent(option: tuple[str, Place], slots: dict[str, int]) -> Iterator[Problem]:
    for one in option[0].split("@"):
        host, _, chosen = one.partition(":")
        if host not in slots:
            message = f"the host file has no host `{host}`: the launcher stops"
            yield Problem(option[1], message, f"its hosts are {', '.join(sorted(slots)[:4])}")
            continue
        beyond = [word for word in chosen.split(",") if word.isdecimal() and int(word) >= slots[host]]
        if beyond:
            message = f"the host file has {slots[host]} slots of `{host}`, and no slot {beyond[0]}: the launcher stops"
            yield Problem(option[1], message, "write the number of its GPUs into the host file")
