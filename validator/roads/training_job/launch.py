"""templates/_launch.tpl: how torchrun is started, and in which environment."""

from __future__ import annotations

from typing import Any

from validator.roads.origins import From, Origin
from validator.roads.training_job import text
from validator.roads.training_job.values import RefusedError, Values

# The operator appends these to every pod.
OWNED = frozenset(
    (
        "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PYTHONUNBUFFERED", "PET_MASTER_ADDR",
        "PET_MASTER_PORT", "PET_NNODES", "PET_NODE_RANK", "PET_NPROC_PER_NODE",
    )
)  # fmt: skip


def command(values: Values) -> list[From]:
    """`training-job.command`."""
    if values.get("torchrun", "port") is None:
        raise RefusedError(("torchrun", "port"), "it is empty; remove the line to get the default")
    timeout = int(values.get("torchrun", "timeoutSeconds") or 0)
    options = [values.made(f"--rdzv-conf=timeout={timeout}", "torchrun", "timeoutSeconds")]
    if values.get("layout") == "worker-only":
        name = values.release.name
        nodes, processes = (text.printed(values.get(key)) for key in ("nodes", "processesPerNode"))
        endpoint = f"{name}-worker-0:{text.printed(values.get('torchrun', 'port'))}"
        conf = f"read_timeout={timeout},join_timeout={timeout}"
        options = [
            values.made(f"--nnodes={nodes}", "nodes"),
            values.made(f"--nproc-per-node={processes}", "processesPerNode"),
            values.made("--rdzv-backend=c10d", "layout"),
            values.made(f"--rdzv-endpoint={endpoint}", "torchrun", "port"),
            values.made(f"--rdzv-id={name}", "layout"),
            values.made(f"--rdzv-conf={conf}", "torchrun", "timeoutSeconds"),
        ]
    return [*values.literals("torchrun", "command"), *options, *values.literals("torchrun", "args")]


def arguments(values: Values) -> list[Any]:
    """`training-job.args`."""
    script = values.get("train", "script")
    field = "script" if script else "module"
    program = From(text.literal(values.get("train", field)), Origin(("train", field), exact=True))
    return [*([] if script else ["-m"]), program, *values.literals("train", "args")]


def environment(values: Values) -> list[From]:
    """`training-job.env`: plain variables, then those from Secrets, both by name."""
    plain, secrets = values.get("env"), values.get("envSecrets")
    for name in sorted((*plain, *secrets)):
        field = "env" if name in plain else "envSecrets"
        if name in OWNED:
            reason = "the training operator sets it in every pod, and its value wins; use nodes, processesPerNode or"
            raise RefusedError((field, name), f"{reason} torchrun.port")
        if name in plain and name in secrets:
            raise RefusedError(("envSecrets", name), "it is in env as well; remove one of the two")
    entries = [
        _entry(values, "env", name, {"value": From(text.literal(plain[name]), Origin(("env", name), exact=True))})
        for name in sorted(plain)
    ]
    for name in sorted(secrets):
        key = {
            "name": values.copy("envSecrets", name, "secret"),
            "key": values.copy("envSecrets", name, "key"),
        }
        entries.append(_entry(values, "envSecrets", name, {"valueFrom": {"secretKeyRef": key}}))
    return entries


def _entry(values: Values, field: str, name: str, source: dict[str, Any]) -> From:
    written = From(name, Origin((field, name), exact=True, on_key=True))
    return From({"name": written, **source}, Origin((field, name), whole=True))
