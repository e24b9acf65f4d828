"""Differences between a job and the release of its values that are meant, each with its reason."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

NODE = r"(Master|Worker|Chief|PS|Evaluator|Launcher|Node)"


class Meant(NamedTuple):
    """Differences in facts of a name. `added` are the values that the chart adds, None for any; `lacks` is true if the
    job must lack the fact."""

    name: str
    reason: str
    added: tuple[Any, ...] | None = None
    lacks: bool = True
    kinds: tuple[str, ...] = ()


EMPTY = '[{"emptyDir": {}}, {}]'
# For every file.
MEANT = (
    Meant(r"job\.annotation\.trainyard/.*", "records by which the chart refuses changes of a running job"),
    Meant(r"job\.label\.(app\.kubernetes\.io/.*|helm\.sh/chart)", "Helm's labels", lacks=False),
    Meant(r"job\.label\.trainer\.kubeflow\.org/webhook-validation", "the runtime is as new as the TrainJob"),
    Meant(rf"{NODE}\.label\.app\.kubernetes\.io/(name|instance)", "Helm's labels", lacks=False),
    Meant(rf"{NODE}\.field\.terminationMessagePolicy", "the last lines of a log in the status", ("FallbackToLogsOnError",)),
    Meant(rf"{NODE}\.annotation\.sidecar\.istio\.io/inject", "a sidecar would keep the pod alive", ("false",)),
    Meant(rf"{NODE}\.mount\./(tmp|checkpoints|unused-checkpoints)", "an empty folder", (EMPTY,)),
    Meant(rf"{NODE}\.mount\./dev/shm", "memory in place of 64 MiB, of which the job says nothing"),
    Meant(rf"{NODE}\.pod\.enableServiceLinks", "no variables of other Services", (False,)),
    Meant(rf"{NODE}\.pod\.shareProcessNamespace", "torchrun is not process 1, and gets SIGTERM", (True,)),
    Meant(rf"{NODE}\.pod\.automountServiceAccountToken", "no token without a ServiceAccount", (False,)),
    Meant(rf"{NODE}\.pod\.terminationGracePeriodSeconds", "time to save a checkpoint", (60,)),
    Meant(rf"{NODE}\.annotation\.kueue\.x-k8s\.io/podset-group-name", "Master and Workers in one domain"),
    Meant(
        rf"{NODE}\.port\.\d+",
        "the port of the rendezvous, which the operator adds",
        ("pytorchjob-port", "torchrun", "tfjob-port", "jaxjob-port", "master", "xgboostjob-port"),
    ),
    Meant(rf"{NODE}\.env\.OMP_NUM_THREADS", "torchrun sets the same for several processes", ("1",)),
    Meant(r"policy\.backoffLimit", "an end of the restarts, of which the job says nothing"),
    Meant(r"processes", "the job does not say; nothing of the chart starts them"),
    Meant(r"elastic\.rdzv(Id|Conf)", "the chart's timeouts, where the job has those of torchrun"),
    Meant(r"spec\.(runLauncherAsWorker|mainContainer)", "a default, written out", (False, "mpi")),
    Meant(r"Worker\.restartPolicy", "workers with sshd restart", ("OnFailure",), lacks=False, kinds=("MPIJob",)),
    Meant(
        r"Launcher\.env\.(OMPI_MCA_btl_vader_single_copy_mechanism|I_MPI_HYDRA_IFACE|TRAINYARD_LAUNCHER_IP)",
        "the chart's variables for mpirun",
    ),
    Meant(r"(Worker|Launcher)\.security\.runAsUser", "the image's user must be root for its ssh keys", (0,)),
    Meant(r"Worker\.security\.capabilities", "capabilities that sshd needs", lacks=False, kinds=("MPIJob",)),
    Meant(r"Launcher\.(pod|label|annotation|mount|security)\..*", "all pods of an MPIJob have one template", kinds=("MPIJob",)),
    Meant(r"(Worker|Launcher)\.env\..*", "all pods of an MPIJob have the same variables", kinds=("MPIJob",)),
    Meant(r"Launcher\.mpirun\.variables", "mpirun passes on all of env", lacks=False, kinds=("MPIJob",)),
)


def reason(kind: str, name: str, original: Any, converted: Any) -> str:
    """Returns the reason of a difference that is meant for every file; empty if it is not."""
    for one in MEANT:
        if one.kinds and kind not in one.kinds:
            continue
        if not re.fullmatch(one.name, name) or (one.lacks and original is not None):
            continue
        if one.added is None or converted in one.added:
            return one.reason
    return ""
