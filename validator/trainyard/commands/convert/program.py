"""The program of a run and what starts it: the values `launcher`, `train`, `torchrun` and `processesPerNode`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from trainyard.commands.convert.draft import Draft
from trainyard.commands.convert.roles import Part
from trainyard.commands.convert.tables import PYTORCH
from trainyard.commands.convert.words import known_names, literals
from trainyard.document.lookup import decimal, items, mapping
from trainyard.facts.programs.launchers import TORCHRUN_MODULES
from trainyard.loaders.manifests.processes import launcher_of
from trainyard.model.run import Run

# Options of torchrun without a value; the others take one. Source: pytorch 2.15.0 torch/distributed/run.py.
_FLAGS = ("--standalone", "--no-python", "--run-path", "--virtual-local-rank", "--use-env")
_PADDLE = "paddle.distributed.launch"
_ENTRY = "The image's entry point runs: podTemplate removes this command"


class Torchrun(NamedTuple):
    """A start of torchrun: its command, its options by name, and the program with its arguments."""

    command: list[str]
    options: dict[str, str]
    module: str
    script: str
    args: list[str]


def put_program(draft: Draft, run: Run, part: Part, *, exact: bool) -> None:
    """Writes the program of a part's container. With `exact` no start of torchrun is taken apart."""
    names = known_names(part, run.kind)
    command, args = items(part.container, "command"), items(part.container, "args")
    start = None if exact or draft.kind not in PYTORCH else _torchrun([*map(str, command), *map(str, args)])
    told = _processes(run)
    if start is not None and _put_torchrun(draft, run, start, told, names):
        return
    if draft.kind in PYTORCH:
        if run.elastic is None:
            draft.put("launcher", "command")
        launches = any(launcher_of(role.container)[0] for role in run.training_roles)
        draft.put("processesPerNode", _count(told) or ("auto" if launches else None))
    own, rest = literals(command, names), literals(args, names)
    if draft.kind == "PaddleJob" and own is not None and rest is not None and _put_paddle(draft, [*own, *rest]):
        return
    if own and rest is not None and run.elastic is None and draft.kind != "PaddleJob":
        draft.put("train.command", own)
        draft.put("train.args", rest or None)
    else:
        _put_words(draft, command, args)


def _put_words(draft: Draft, command: list[Any], args: list[Any]) -> None:
    """Writes the words into `podTemplate`, which keeps references to variables and the image's own entry point."""
    first = str(command[0]) if command and "$" not in str(command[0]) else "python3"
    reason = "The words are in podTemplate: Kubernetes puts variables into them" if command else _ENTRY
    if "train" not in draft.values:
        is_script = draft.kind == "PaddleJob" or (draft.kind in PYTORCH and "launcher" not in draft.values)
        draft.put("train.script" if is_script else "train.command", first if is_script else [first], reason)
    draft.program()["command"] = command or None
    draft.program()["args"] = args or None


def _put_paddle(draft: Draft, words: list[str]) -> bool:
    """Writes a start of Paddle's launcher without options of its own. Returns true on success."""
    if _PADDLE not in words or words.index(_PADDLE) != 2 or words[3:4] == [] or words[3].startswith("-"):
        return False
    draft.put("train.command", words[:1] if words[:1] != ["python3"] else None)
    draft.put("train.script", words[3])
    draft.put("train.args", words[4:] or None)
    draft.changes.append("Paddle's launcher gets the number of processes and a folder for its logs, /tmp/paddle")
    return True


def _torchrun(words: list[str]) -> Torchrun | None:
    """Returns the start of torchrun that the words are, None for anything else."""
    head = next((index for index, word in enumerate(words[:3]) if _is_torchrun(words, index)), None)
    if head is None:
        return None
    options: dict[str, str] = {}
    index = head + 1
    while index < len(words) and words[index].startswith("-"):
        name, equals, value = words[index].partition("=")
        if name in ("-m", "--module"):
            if index + 1 >= len(words):
                return None
            return Torchrun(words[: head + 1], options, words[index + 1], "", words[index + 2 :])
        index += 1
        if name not in _FLAGS and not equals:
            if index >= len(words):
                return None
            value, index = words[index], index + 1
        options[name.replace("_", "-")] = value
    if index >= len(words):
        return None
    return Torchrun(words[: head + 1], options, "", words[index], words[index + 1 :])


def _is_torchrun(words: list[str], index: int) -> bool:
    name = words[index].rsplit("/", 1)[-1]
    return (name == "torchrun" and index == 0) or (name == TORCHRUN_MODULES[0] and index == 2 and words[1] == "-m")


def _put_torchrun(draft: Draft, run: Run, start: Torchrun, told: Any, names: Collection[str]) -> bool:
    """Writes a start of torchrun if its options for the rendezvous are those that the chart writes."""
    options = dict(start.options)
    nodes = options.pop("--nnodes", None)
    backend = options.pop("--rdzv-backend", "c10d")
    host, _, port = options.pop("--rdzv-endpoint", "").partition(":")
    host, port = options.pop("--master-addr", host), options.pop("--master-port", port)
    rank, conf = options.pop("--node-rank", "$("), options.pop("--rdzv-conf", "")
    options.pop("--rdzv-id", None)
    processes = options.pop("--nproc-per-node", None)
    hosts = ("", f"{run.name}-worker-0", f"{run.name}-master-0", "$(MASTER_ADDR)", "$(PET_MASTER_ADDR)")
    known = nodes in (None, str(run.nodes)) or (run.elastic is not None and nodes is not None and ":" in nodes)
    if not known or backend not in ("c10d", "static") or host not in hosts or not rank.startswith("$(") or conf:
        return False
    kept = [f"{name}={value}" if name not in _FLAGS else name for name, value in options.items()]
    written = [literals(words, names) for words in (start.command, kept, start.args, [start.script, start.module])]
    if any(words is None for words in written) or "--standalone" in kept:
        return False
    draft.put("torchrun.command", start.command)
    draft.put("torchrun.args", written[1])
    draft.put("train.module", start.module or None)
    draft.put("train.script", start.script)
    draft.put("train.args", written[2] if written[2] or start.module == "trainer" else None)
    if (number := decimal(port)) is not None and not any(role.name == "Master" for role in run.roles):
        draft.put("torchrun.port", number)
    own = processes if processes is not None else told
    if _count(own) != (run.processes if _count(own) is None else _gpus(run)):
        draft.put("processesPerNode", _count(own) or ("auto" if _gpus(run) == 0 else None))
    return True


def _processes(run: Run) -> Any:
    """Returns the number of processes that the job names, None if it leaves it to a default."""
    if run.kind == "TrainJob":
        policy = mapping(run.runtime or {}, "mlPolicy", "torch")
        return mapping(run.spec, "trainer").get("numProcPerNode", policy.get("numProcPerNode"))
    return run.spec.get("nprocPerNode", mapping(run.spec, "elasticPolicy").get("nProcPerNode"))


def _count(told: Any) -> int | str | None:
    """Returns a number of processes as the value takes it."""
    if isinstance(told, int) and not isinstance(told, bool):
        return told
    if isinstance(told, str):
        number = decimal(told)
        return number if number is not None else (told if told in ("gpu", "cpu") else None)
    return None


def _gpus(run: Run) -> int:
    return max((role.container.gpus for role in run.training_roles if role.container is not None), default=0)
