"""The label or annotation looks like one that a controller reads, but has another domain or name, so it has no effect.

Kubernetes accepts every label and annotation, and a controller ignores those that it does not know. A job whose queue
stands under `kueue.scheduling.k8s.io/queue-name` is not managed by Kueue: it starts at once without a quota, or stays
suspended if it says so itself. So does one under `kueue.x-k8s.io/queue`. The KAI scheduler no longer reads
`runai/queue`, nor Karpenter `karpenter.sh/do-not-evict`, since its first stable version.

Write the name that the message gives.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.metadata import Written, written
from trainyard.document.document import Rename
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.metadata_keys import BY_NAME, BY_WORD, FORMER, MISSPELT, NEEDS, Key
from trainyard.model.run import Project, Workload

# Node pools of Karpenter, today and before its first stable version.
_POOLS = ("NodePool", "Provisioner")


@rule(
    code="TP017",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes-sigs/kueue v0.19.2 pkg/controller/constants/constants.go: QueueLabel",
        "github.com/GoogleCloudPlatform/kubernetes-engine-samples pull 534",
        "github.com/kai-scheduler/KAI-Scheduler issue 44: the label is kai.scheduler/queue",
        "aws/karpenter-provider-aws website/content/en/docs/upgrading/v1-migration.md: karpenter.sh/do-not-disrupt",
        "github.com/kubernetes-sigs/karpenter issue 2170",
    ),
    fix="unsafe",
    needs=NEEDS,
)
def metadata_key_misspelt(run: Workload, context: Context) -> Iterator[Problem]:
    """Report names that differ from known ones in the domain."""
    found = written(run)
    for one in found:
        key = _former(one, run, context.project) or _meant(one)
        if key is None:
            continue
        is_set = any(other.name == key.name for other in found)
        if is_set and (one.name in MISSPELT or one.name in FORMER):
            continue
        edits = () if is_set or one.field != key.field else (Rename(one.at, key.name),)
        yield Problem(one.at.key(), f"{key.reader} does not read `{one.name}`", f"write `{key.name}`", edits)


def _former(one: Written, run: Workload, project: Project) -> Key | None:
    former = FORMER.get(one.name)
    if former is None:
        return None
    name, scheduler = former
    if not scheduler:
        return None if _has_old_karpenter(project) else BY_NAME[name]
    is_read = any(text(role.pod.tree, "schedulerName") == scheduler for role in run.roles)
    return BY_NAME[name] if is_read else None


def _has_old_karpenter(project: Project) -> bool:
    """True if the files have objects of a release before the first stable one, which still reads the former keys."""
    return any(not one.api_version.endswith("/v1") for one in project.of_kind(*_POOLS))


def _meant(one: Written) -> Key | None:
    if one.name in MISSPELT:
        return BY_NAME[MISSPELT[one.name]]
    domain, _, word = one.name.rpartition("/")
    key = BY_WORD.get(word)
    if key is None or one.name in BY_NAME or not domain:
        return None
    # Another project may use the word; one that shares a part of the domain's name is meant.
    right = key.name.rpartition("/")[0]
    return key if right.partition(".")[0] in domain.split(".") or domain in right else None
