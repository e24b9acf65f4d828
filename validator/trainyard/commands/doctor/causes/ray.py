"""Messages of Ray."""

from __future__ import annotations

from trainyard.commands.doctor.cause import Cause, Level, Sign

CAUSES = (
    Cause(
        name="ray-worker-died",
        title="a worker process or node of Ray died",
        signs=(
            Sign("Worker exit type: SYSTEM_ERROR"),
            Sign("The actor died unexpectedly before finishing this task"),
            Sign(
                "ray.exceptions.", r"ray\.exceptions\.(?:ActorDiedError|RayActorError|WorkerCrashedError|NodeDiedError)"
            ),
            Sign("Task failed because the node it was running on is dead"),
            Sign("has been marked dead because the detector has missed too many heartbeats"),
        ),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="Ray lost the process. Its list of potential reasons is the same in every such message.",
        remedy="Read the worker's own log in the session folder of Ray, `Reason` in kubectl describe pod, and dmesg.",
        source="github.com/ray-project/ray issue 47461",
    ),
    Cause(
        name="ray-head-unreachable",
        title="a pod cannot reach the head of the Ray cluster",
        signs=(
            Sign("Timed out while waiting for GCS"),
            Sign("Failed to connect to GCS"),
            Sign("Unable to connect to GCS"),
            Sign("Could not find any running Ray instance"),
            Sign("ray client connection timeout"),
        ),
        confidence="medium",
        explanation="The head pod does not run (yet) or has ended, its Service or port 6379 is not reachable, or the "
        "versions of Ray differ.",
        remedy="Read the log and events of the head pod; check its Service and network policies; use one image for "
        "head and workers.",
        source="github.com/ray-project/kuberay issue 2540",
    ),
    Cause(
        name="ray-storage-not-shared",
        title="the nodes of Ray do not share the storage of the run",
        signs=(Sign("Unable to set up cluster storage with the following settings"),),
        explanation="Ray Train saves checkpoints and results from all nodes, and its storage path is a local folder or "
        "may not be written by one of them.",
        remedy="Set storage_path of RunConfig to a volume that all pods mount (ReadWriteMany), or to a bucket.",
        source="github.com/ray-project/kuberay issue 1753",
    ),
    Cause(
        name="vllm-engine-failed",
        title="the engine of vLLM did not start or has ended",
        signs=(
            Sign("Engine core initialization failed"),
            Sign("EngineCore failed to start"),
            Sign("WorkerProc initialization failed due to an exception in a background process"),
            Sign("EngineCore encountered a fatal error"),
            Sign("Engine process failed to start"),
        ),
        level=Level.ENDING,
        confidence="low",
        explanation="A worker process of vLLM ended with an exception, which stands above these lines in its output.",
        remedy="Read the first exception above, also in the logs of the other nodes; VLLM_LOGGING_LEVEL=DEBUG shows "
        "more.",
        source="github.com/vllm-project/vllm issue 39915",
    ),
    Cause(
        name="ray-no-resources",
        title="the Ray cluster lacks the resources of a task",
        signs=(
            Sign("Cannot schedule", r"Cannot schedule .*with the placement group|cannot be scheduled right now"),
            Sign("cannot be scheduled right now"),
            Sign("No available node types can fulfill resource request"),
            Sign("Error: No available node types"),
            Sign("Total available GPUs", r"Total available GPUs .* is less than total desired GPUs"),
        ),
        confidence="medium",
        messages=("No available node types can fulfill resource request", "cannot be scheduled right now"),
        explanation="The tasks and placement groups ask for more GPUs or CPUs than the workers have together.",
        remedy="Compare `ray status` with the request; raise the replicas of the worker group, or ask for less.",
        source="github.com/ray-project/ray python/ray/autoscaler/_private/event_summarizer.py",
    ),
)
