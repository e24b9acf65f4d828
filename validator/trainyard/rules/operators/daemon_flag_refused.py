"""A daemon of the platform gets a flag that its release does not have, or a value that the flag does not take.

Releases add, rename and remove flags. A manifest of one release with an image of another ends with `unknown flag` or
`flag provided but not defined`, and so does a misspelt flag. The container exits at its start, and the pod stays in
`CrashLoopBackOff`: the operator manages no jobs, the device plugin offers no devices, or the exporter has no metrics.

The rule knows the flags of the operators of training jobs, queues, Ray and Spark, of Volcano, of NVIDIA's and the
network's device plugins, of Node Feature Discovery, of the cluster autoscaler, of the usual exporters and of
Kubernetes, by the minor releases that image tags tell. It says nothing about other releases, and about images without a
release in their tag.

Remove the flag, or use an image of a release that has it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.daemon_flags import faults
from trainyard.analysis.pods.daemon_releases import starts
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.daemons import WORDS
from trainyard.model.run import Pod


@rule(
    code="GO079",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/daemons.py: the source of each daemon",
        "github.com/golang/go flag, github.com/spf13/pflag, github.com/alecthomas/kingpin: how they read arguments",
        "github.com/kubeflow/community-distribution issue 2009, github.com/ray-project/kuberay issue 3657",
        "github.com/k8snetworkplumbingwg/multus-cni issue 1129, github.com/kubernetes/autoscaler issue 6289",
        "github.com/kubeflow/spark-operator issue 637",
    ),
    needs=WORDS,
)
def daemon_flag_refused(pod: Pod) -> Iterator[Problem]:
    """Report flags that a release lacks, and values that a flag does not take."""
    for container in (*pod.containers, *pod.init_containers):
        for start in starts(container):
            for fault in faults(start):
                image = container.at.child("image")
                related = ((image, "the tag of this image names the release"),) if fault.is_of_release else ()
                yield Problem(start.command.word_at[fault.word], fault.message, fault.help, related=related)
