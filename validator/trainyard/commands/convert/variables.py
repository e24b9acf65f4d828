"""Environment variables: the values `env`, `envSecrets`, `envFrom` and `nccl`."""

from __future__ import annotations

import re
from typing import Any

from trainyard.commands.convert.draft import Draft
from trainyard.commands.convert.roles import Part
from trainyard.commands.convert.tables import ELASTIC, OWNED
from trainyard.commands.convert.words import known_names, literal
from trainyard.document.lookup import items, mapping, text
from trainyard.loaders.manifests.pods import as_text

_NCCL = re.compile(r"^(NCCL|TORCH_NCCL|TORCH_FR)_[A-Z0-9_]+$")
# Names that the chart refuses in `env`, as in common.refuseSecrets.
_SECRET = re.compile(
    r"(?:^|_)(?:TOKEN|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|SECRET|SECRET_(?:ACCESS_)?KEY|PRIVATE_KEY|STORAGE_KEY)$"
)
_TOKENIZER = re.compile(
    r"(?:^|_)(?:PAD|EOS|BOS|UNK|MASK|SEP|CLS|STOP|IMAGE|SPECIAL|START|END|PER|MAX|MIN|NEXT|CLUSTER|DISCOVERY)_TOKEN$"
)


def put_variables(draft: Draft, part: Part, kind: str, *, elastic: bool, processes: int | None) -> None:
    """Writes the variables of a part's container, without those that the operator sets."""
    env: dict[str, Any] = {}
    nccl: dict[str, Any] = {}
    names = known_names(part, kind)
    # Of several entries with one name, the last one counts.
    entries = {text(entry, "name"): entry for entry in items(part.container, "env") if isinstance(entry, dict)}
    for name, entry in entries.items():
        if name in OWNED[draft.kind] or (elastic and name in ELASTIC):
            if kind not in ("JobSet",) or name != "PYTHONUNBUFFERED":
                draft.changes.append(f"{name} has no value: the operator or the chart sets it in every pod")
        elif mapping(entry, "valueFrom"):
            _put_reference(draft, env, name, entry)
        elif _SECRET.search(name.upper()) and not _TOKENIZER.search(name.upper()):
            draft.lost.append(f"env {name}: anyone could read it; put it into a Secret and name that in envSecrets")
        else:
            written = literal(as_text(entry.get("value")) or "", names - {name})
            if written is None:
                draft.program().setdefault("env", []).append(entry)
            elif _NCCL.match(name):
                nccl[name] = written
            else:
                env[name] = written
    draft.put("nccl", nccl)
    _put_env(draft, env, processes)
    _put_sources(draft, part)


def _put_env(draft: Draft, env: dict[str, Any], processes: int | None) -> None:
    # torchrun itself sets this variable to 1 for several processes of a pod.
    threads = "launcher" not in draft.values and (processes or 0) > 1 and draft.kind in ("PyTorchJob", "TrainJob")
    if threads and "OMP_NUM_THREADS" not in env:
        env = {**env, "OMP_NUM_THREADS": 1}
    draft.put_exactly("env", env)
    if isinstance(draft.values.get("env", {}), dict) and None in draft.values.get("env", {}).values():
        draft.comments["env"] = ["Null: the image's own value, in place of the chart's"]


def _put_reference(draft: Draft, env: dict[str, Any], name: str, entry: dict[str, Any]) -> None:
    source = mapping(entry, "valueFrom")
    secret = mapping(source, "secretKeyRef")
    if secret and not secret.get("optional"):
        draft.put(f"envSecrets.{name}", {"secret": text(secret, "name"), "key": text(secret, "key")})
    elif set(source) <= {"fieldRef", "resourceFieldRef", "configMapKeyRef"}:
        env[name] = {"valueFrom": source}
    else:
        draft.program().setdefault("env", []).append(entry)


def _put_sources(draft: Draft, part: Part) -> None:
    config_maps, secrets, others = [], [], []
    for entry in items(part.container, "envFrom"):
        if set(entry) == {"configMapRef"} and set(entry["configMapRef"]) == {"name"}:
            config_maps.append(entry["configMapRef"]["name"])
        elif set(entry) == {"secretRef"} and set(entry["secretRef"]) == {"name"}:
            secrets.append(entry["secretRef"]["name"])
        else:
            others.append(entry)
    if others:
        draft.program()["envFrom"] = items(part.container, "envFrom")
    else:
        draft.put("envFrom.configMaps", config_maps)
        draft.put("envFrom.secrets", secrets)
