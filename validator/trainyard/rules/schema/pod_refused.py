"""The API server refuses the pod: fields that are right alone contradict each other, or a value is outside its bounds.

No pod is created, and the job waits without any: "spec.tolerations[0].operator: Invalid value", "must be less than or
equal to cpu limit", "must be unique". For a job, the error stands in the events of the controller alone.

The rule knows tolerations and node affinity whose operator does not fit their values, probes without a handler, with
two handlers or with another `successThreshold` than 1, probes of init containers, requests above limits, a variable
with `value` and `valueFrom`, fields that a variable cannot have, and a volume with two sources. It knows names of
containers, volumes and ports, numbers of ports, modes of files, paths below a volume, mount propagation, name servers
and spread constraints, and empty names, keys and paths, such as `mountPath: ""`. It also knows a `hostPort` that is not
the port of a pod on the host's network, privileges without `allowPrivilegeEscalation`, and values that a label cannot
have. It leaves out patches.

Write what the message says.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.patches import is_patch
from trainyard.analysis.pods.validation import refused
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.origins import RenderedDocument
from trainyard.loaders.schemas.partial import is_assertion, is_named_patch, is_partial
from trainyard.model.run import Pod
from trainyard.startup import pattern

# Controllers of other kinds may add what a pod lacks.
WHOLE = ("v1", "apps/", "batch/v1")

# A name such as `run-`, or an empty one, in which a value of the chart is missing that its user must give.
_OPEN = pattern(r"`-?[a-z0-9.-]+-` is not a valid `name`|`\w+` is empty\Z")


@rule(
    code="SM009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubernetes v1.34.4 pkg/apis/core/validation/validation.go: ValidatePodSpec and the functions it calls",),
)
def pod_refused(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report pods that the API server does not accept."""
    faults = list(refused(pod))
    if not faults or context.run is None or is_patch(pod) or is_named_patch(pod.at.document):
        return
    if is_assertion(pod.at.document):
        return
    is_whole = context.run.api_version.startswith(WHOLE) and not is_partial(pod.at.document)
    is_rendered = isinstance(pod.at.document, RenderedDocument)
    for fault in faults:
        if (fault.is_absence and not is_whole) or (is_rendered and _OPEN.match(fault.message)):
            continue
        yield Problem(fault.at, f"{fault.message}: the API server refuses the pod", fault.help)
