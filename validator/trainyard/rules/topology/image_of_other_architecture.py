"""The pod runs on nodes of one architecture, and its image is built for another one, so no program in it starts.

The kubelet pulls an image of a single architecture on any node. The container ends at once with "exec format error",
and restarts until someone looks at its log. Tags of `rayproject/ray` are for amd64, unless they end with `-aarch64`.

The rule compares the node selector or the required node affinity with images whose tags name their architecture. It
knows `kubernetes.io/arch`, the GPUs of Grace (GH200, GB200, GB300) and AWS instances with Graviton. Most images are
built for several architectures, and it says nothing of them.

Write the tag for the nodes, or select other nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.placement import required_values
from trainyard.document.document import Place
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.image_architectures import ARM64, LABELS, architecture, of_nodes
from trainyard.model.run import Pod


@rule(
    code="TP028",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/image_architectures.py: images of one architecture",
        "github.com/ray-project/kuberay issues 1468 and 2698",
    ),
    needs=("rayproject",),
)
def image_of_other_architecture(pod: Pod) -> Iterator[Problem]:
    """Report images that the nodes cannot run."""
    nodes = _architecture_of_nodes(pod)
    for container in (*pod.init_containers, *pod.containers) if nodes is not None else ():
        own = architecture(container.image or "")
        if nodes is None or own is None or own == nodes[0]:
            continue
        help_ = "write the tag with `-aarch64`" if nodes[0] == ARM64 else "write the tag without `-aarch64`"
        yield Problem(
            container.at.child("image"),
            f"the image is for {own}, and the pod runs on nodes with {nodes[0]}: the container ends at once",
            help_,
            related=((nodes[1], "the nodes"),),
        )


def _architecture_of_nodes(pod: Pod) -> tuple[str, Place] | None:
    """Returns the only architecture of the nodes that the pod may run on."""
    for label in LABELS:
        if selected := text(pod.tree, "nodeSelector", label):
            found = [(selected, pod.at.child("nodeSelector", label))]
        else:
            found = list(required_values(pod, (label,)))
        known = {of_nodes(label, value) for value, _ in found}
        if len(known) == 1 and (one := known.pop()) is not None:
            return one, found[0][1]
    return None
