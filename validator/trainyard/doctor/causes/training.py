"""The program: DeepSpeed, numbers, checkpoints, modules and the model hub."""

from __future__ import annotations

from trainyard.doctor.cause import Cause, Level, Sign

_NAN = r"(?i)\b(?:lm[ _]|train[ _])?loss\b[\"']?\s*[:=|]?\s*[\"']?nan\b"

CAUSES = (
    Cause(
        name="deepspeed-batch-size",
        title="the batch sizes of DeepSpeed contradict each other",
        signs=(
            Sign("Check batch related parameters"),
            Sign("train_batch_size is not equal to micro_batch_per_gpu"),
            Sign("train_micro_batch_size_per_gpu needs to be provided"),
        ),
        explanation="train_batch_size must be micro-batch times accumulation steps times ranks. A world size "
        "of 1 in the message means that the launcher did not start the ranks together.",
        remedy="Leave train_batch_size out, or correct the product; check the world size that DeepSpeed sees.",
        source="github.com/deepspeedai/DeepSpeed issue 6914",
        rules=("ds-batch-identity", "ds-batch-missing"),
    ),
    Cause(
        name="deepspeed-ssh-failed",
        title="the DeepSpeed launcher cannot reach a node by ssh",
        signs=(Sign("ssh -o PasswordAuthentication=no", r"non-zero exit status 255"),),
        explanation="The launcher logs in to each node of the host file without a password, and the first one refused.",
        remedy="Install sshd and a key in all pods, or start the ranks without ssh: torchrun, or deepspeed --no_ssh.",
        source="github.com/deepspeedai/DeepSpeed issue 4907",
    ),
    Cause(
        name="ray-worker-died",
        title="a worker process of Ray died",
        signs=(Sign("Worker exit type: SYSTEM_ERROR"), Sign("The actor died unexpectedly before finishing this task")),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="Ray lost the process. Its list of potential reasons is the same in every such message.",
        remedy="Read the worker's own log in the session folder of Ray, `Reason` in kubectl describe pod, and dmesg.",
        source="github.com/ray-project/ray issue 47461",
    ),
    Cause(
        name="loss-scale-minimum",
        title="the loss scale cannot be reduced any more",
        signs=(Sign("loss scale already at minimum"),),
        explanation="Gradients overflow in fp16 in every step: the loss has become NaN or infinite.",
        remedy="Train in bf16; else reduce the learning rate, clip gradients, and check the data.",
        source="github.com/hiyouga/LlamaFactory issue 251",
        rules=("ds-fp16-and-bf16",),
        hides=("loss-nan",),
    ),
    Cause(
        name="loss-nan",
        title="the loss is NaN",
        signs=(Sign("nan", _NAN), Sign("NaN", _NAN)),
        messages=("loss: nan",),
        explanation="The training diverged, the data has invalid values, or a GPU computes wrongly.",
        remedy="Resume from the last good checkpoint with a lower learning rate; skip the batch; test the GPUs.",
        source="docs.pytorch.org notes/amp_examples",
    ),
    Cause(
        name="checkpoint-corrupt",
        title="a checkpoint or model file is damaged",
        signs=(
            Sign("PytorchStreamReader failed reading"),
            Sign("Error while deserializing header"),
            Sign("invalid load key"),
            Sign("assert metadata is not None"),
        ),
        explanation="The file is not complete: a save or a download was interrupted.",
        remedy="Delete it and resume from the one before; write to a temporary name and rename after the save.",
        source="github.com/mosaicml/llm-foundry issue 623",
    ),
    Cause(
        name="checkpoint-mismatch",
        title="the checkpoint belongs to another model",
        signs=(Sign("in loading state_dict for"), Sign("size mismatch for", r"copying a param with shape")),
        messages=(
            "Error(s) in loading state_dict for",
            "size mismatch for",
        ),
        explanation="Names or shapes differ: another configuration, vocabulary, or a wrapper around the model.",
        remedy="Load the configuration of the checkpoint, or start in an empty checkpoint folder.",
        source="docs.pytorch.org generated/torch.nn.Module: load_state_dict",
    ),
    Cause(
        name="module-not-found",
        title="the image lacks a Python package",
        signs=(Sign("ModuleNotFoundError: No module named"),),
        explanation="The program imports a package that is not installed, or its folder is not on PYTHONPATH.",
        remedy="Install it in the image, or correct the working folder.",
        source="docs.python.org library/exceptions",
    ),
    Cause(
        name="extension-build-failed",
        title="a CUDA or C++ extension does not compile in the pod",
        signs=(
            Sign("Error building extension"),
            Sign("ninja: build stopped"),
            Sign("has no attribute 'ds_opt_adam'"),
        ),
        explanation="DeepSpeed and others compile extensions when they first run. Compiler, CUDA toolkit or headers "
        "are "
        "missing in the image, or do not fit PyTorch.",
        remedy="Build them with the image (DS_BUILD_CPU_ADAM=1 and the like) on a development image of CUDA.",
        source="github.com/deepspeedai/DeepSpeed issue 1846",
    ),
    Cause(
        name="process-crashed",
        title="a process crashed in native code (SIGSEGV, SIGABRT, SIGILL)",
        signs=(
            Sign("Signal 11 (SIGSEGV)"),
            Sign("Signal 6 (SIGABRT)"),
            Sign("Signal 4 (SIGILL)"),
            Sign("exitcode", r"exitcode\s*:\s*-(?:11|6|4)\b"),
            Sign("died with <Signals.SIG", r"<Signals\.SIG(?:SEGV|ABRT|ILL)"),
            Sign("139", r"(?i)exit ?code:?\s+139\b"),
        ),
        level=Level.CONSEQUENCE,
        confidence="low",
        ended_by_agent=True,
        messages=(
            "Signal 11 (SIGSEGV) received",
            "exitcode: -11",
            "died with <Signals.SIGSEGV: 11>",
            "exit code 139",
        ),
        explanation="A library wrote to invalid memory, or a check in it ended the process: packages of other "
        "versions, "
        "a driver, or bad memory. NCCL's watchdog ends a process with SIGABRT.",
        remedy="Read the lines above it. PYTHONFAULTHANDLER=1 prints the Python stack; run the program on another "
        "node.",
        source="github.com/NVIDIA/Megatron-LM issue 1880",
    ),
    Cause(
        name="program-failed",
        title="a rank ended with an error that doctor does not know",
        signs=(
            Sign("exitcode", r"exitcode\s*: [1-9]\d*(?: \(pid|\))"),
            Sign("Exit Code:", r"Exit Code: +(?!0\b)\d+"),
            Sign("one or more processes exited with non-zero status"),
        ),
        level=Level.ENDING,
        confidence="low",
        ended_by_agent=True,
        messages=(
            "failed (exitcode: 1) local_rank: 0",
            "Exit Code: 1",
            "one or more processes exited with non-zero status",
        ),
        explanation="torchrun, Horovod or Kubernetes reports the exit code. The reason is in the output of this rank.",
        remedy="Read the end of the log of the rank that failed first. `@record` of torch.distributed.elastic on the "
        "main function shows its exception in torchrun's report.",
        source="github.com/Vision-CAIR/MiniGPT-4 issue 237",
    ),
    Cause(
        name="hub-gated",
        title="the model hub refuses access",
        signs=(
            Sign("Cannot access gated repo"),
            Sign("GatedRepoError"),
            Sign("You are trying to access a gated repo"),
            Sign("401 Client Error", r"huggingface"),
        ),
        explanation="The model needs an accepted license, and a token of that account.",
        remedy="Accept the license, and give the pods HF_TOKEN from a Secret.",
        source="github.com/ml-explore/mlx-examples issue 759",
    ),
    Cause(
        name="hub-offline",
        title="the model hub cannot be reached, and the files are not cached",
        signs=(
            Sign("couldn't connect to 'https://huggingface.co"),
            Sign("LocalEntryNotFoundError"),
            Sign("OfflineModeIsEnabled"),
            Sign("outgoing traffic has been disabled"),
        ),
        hides=("name-not-known",),
        explanation="The pods have no way to the internet, or HF_HUB_OFFLINE is set and the cache is empty.",
        remedy="Put the files on a volume before the run, and set HF_HOME to it; or allow the proxy.",
        source="huggingface.co docs/transformers/installation: offline mode",
        rules=("model-cache-on-small-volume",),
    ),
)
