"""Errors of Python programs: packages, arguments, tensors, and processes that end."""

from __future__ import annotations

from trainyard.commands.doctor.cause import Cause, Level, Sign

# The last line of a traceback, with the prefix of a rank or a logger.
# The name of an exception, as Python writes it at the end of a traceback.
EXCEPTION = r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)"
_EXCEPTION = rf"(?:^|[\]>:|] ?|\s){EXCEPTION}: \S"

CAUSES = (
    Cause(
        name="module-not-found",
        title="the image lacks a Python package",
        signs=(Sign("ModuleNotFoundError: No module named"),),
        explanation="The program imports a package that is not installed, or its folder is not on PYTHONPATH.",
        remedy="Install it in the image, or correct the working folder.",
        source="docs.python.org library/exceptions",
    ),
    Cause(
        name="package-version-mismatch",
        title="two packages of the image do not fit together",
        signs=(
            Sign("ImportError: cannot import name"),
            Sign("AttributeError: module", r"AttributeError: module '[\w.]+' has no attribute"),
            Sign("got an unexpected keyword argument"),
            Sign("numpy.core.multiarray failed to import"),
            Sign("compiled using NumPy 1.x cannot be run in NumPy 2"),
        ),
        confidence="medium",
        messages=("ImportError: cannot import name", "got an unexpected keyword argument"),
        explanation="The code was written for another version of the package that the message names: a function has "
        "been added, renamed or removed.",
        remedy="Pin the versions that belong together, and build the image again. pip list in a pod shows what it has.",
        source="docs.python.org library/exceptions",
    ),
    Cause(
        name="nccl-library-mismatch",
        title="PyTorch is loaded with another NCCL than its own",
        signs=(Sign("undefined symbol: nccl"),),
        hides=("shared-library-missing",),
        explanation="A library libnccl.so.2 of the system, of another package or on LD_LIBRARY_PATH is older than the "
        "one that PyTorch was built with.",
        remedy="Remove it from LD_LIBRARY_PATH, or install the nvidia-nccl package that PyTorch asks for.",
        source="github.com/pytorch/pytorch issue 119932",
    ),
    Cause(
        name="shared-library-missing",
        title="a shared library is missing or does not fit",
        signs=(
            Sign("cannot open shared object file", r"(?:Import|OS)Error: |error while loading shared libraries"),
            Sign("undefined symbol: ", r"(?:Import|OS)Error: "),
            Sign("GLIBC", r"version [`'\"]?GLIBC(?:XX)?_[\d.]+[`'\"]? not found"),
        ),
        messages=("cannot open shared object file", "undefined symbol", "version `GLIBC_2.29' not found"),
        explanation="A package was built for another CUDA, PyTorch or system than the image has, or the path of its "
        "libraries is not on LD_LIBRARY_PATH.",
        remedy="Install the build of the package for this CUDA and PyTorch, or build it in the image.",
        source="github.com/pytorch/pytorch issue 119072",
    ),
    Cause(
        name="arguments-refused",
        title="the program does not accept its arguments",
        signs=(
            Sign("error: unrecognized arguments"),
            Sign("error: the following arguments are required"),
            Sign("error: argument ", r"^\S+: error: argument -|\.py: error: argument"),
            Sign("Some specified arguments are not used by the HfArgumentParser"),
            Sign("Override '", r"Override '[^']+' not found in"),
            Sign("Error: No such option"),
            Sign("Error: Missing option"),
            Sign("FATAL Flags parsing error"),
            Sign("ERROR: Could not consume arg"),
        ),
        explanation="An argument is misspelt, missing, or has a value of another type. The exit code is 2.",
        remedy="Compare `train.args` with the help of the program. Arguments of torchrun stand before the script.",
        source="docs.python.org library/argparse",
    ),
    Cause(
        name="tensors-do-not-fit",
        title="shapes, types or devices of tensors do not fit together",
        signs=(
            Sign("shapes cannot be multiplied"),
            Sign("must match the size of tensor"),
            Sign("Expected all tensors to be on the same device"),
            Sign("to have the same dtype, but got"),
            Sign("expected scalar type", r"expected scalar type \w+ but found"),
            Sign("should be the same", r"Input type .* and (?:weight|bias) type .* should be the same"),
            Sign("is invalid for input of size"),
        ),
        messages=("mat1 and mat2 shapes cannot be multiplied", "Expected all tensors to be on the same device"),
        explanation="The model or its wrapper (sharding, mixed precision, offloading) got a tensor of another shape, "
        "type or device than it expects.",
        remedy="Run one step on a processor with a small model, and compare the shapes at the line of the traceback.",
        source="github.com/pytorch/pytorch aten/src/ATen/ExpandUtils.cpp",
    ),
    Cause(
        name="autograd-misused",
        title="the backward pass cannot be computed",
        signs=(
            Sign("Trying to backward through the graph a second time"),
            Sign("has been modified by an inplace operation"),
            Sign("does not require grad and does not have a grad_fn"),
        ),
        explanation="The graph was freed, a tensor in it was changed in place, or the loss does not depend on any "
        "parameter that is trained, for example because all are frozen.",
        remedy="torch.autograd.set_detect_anomaly(True) names the operation; with frozen weights and recomputation, "
        "call enable_input_require_grads.",
        source="docs.pytorch.org notes/autograd",
    ),
    Cause(
        name="data-damaged",
        title="a file of the data set cannot be read",
        signs=(
            Sign("UnidentifiedImageError"),
            Sign("JSONDecodeError"),
            Sign("UnicodeDecodeError"),
            Sign("image file is truncated"),
            Sign("ArrowInvalid"),
            Sign("BadZipFile"),
        ),
        confidence="medium",
        explanation="A file is damaged, not complete, or has another format than the loader expects.",
        remedy="Find the file with num_workers=0 and a try around the loader; download it again or leave it out.",
        source="docs.python.org library/json: JSONDecodeError",
    ),
    Cause(
        name="too-many-processes",
        title="the limit of processes and threads is reached",
        signs=(
            Sign("can't start new thread"),
            Sign("pthread_create failed"),
            Sign("pthread_create", r"pthread_create.*Resource temporarily unavailable"),
            Sign("fork: ", r"fork: (?:retry: )?Resource temporarily unavailable"),
            Sign("BlockingIOError: [Errno 11] Resource temporarily unavailable"),
        ),
        explanation="The pod has used up its process ids (podPidsLimit of the kubelet), or a limit of the user.",
        remedy="Set OMP_NUM_THREADS, use fewer data loader workers, or raise podPidsLimit.",
        source="kubernetes.io docs/concepts/policy/pid-limiting",
    ),
    Cause(
        name="run-stopped",
        title="the run was stopped from outside",
        signs=(
            Sign("SignalException: Process", r"got signal: \d+"),
            Sign("KeyboardInterrupt"),
            Sign("DUE TO TIME LIMIT"),
            Sign("DUE TO PREEMPTION"),
        ),
        level=Level.CONSEQUENCE,
        confidence="medium",
        messages=("SignalException: Process 12 got signal: 15",),
        explanation="torchrun got a signal: the pod was deleted, evicted or preempted, the node went down, or a "
        "terminal was closed (signal 1).",
        remedy="Read the events of the pod and its node; resume from the last checkpoint.",
        source="github.com/pytorch/pytorch torch/distributed/elastic/multiprocessing/api.py",
    ),
    Cause(
        name="experiment-tracker-failed",
        title="the experiment tracker ended the program",
        signs=(
            Sign("wandb.", r"\bwandb\.(?:errors|sdk)[\w.]*\.\w*Error\b"),
            Sign("mlflow.exceptions.", r"mlflow\.exceptions\.\w+Exception"),
            Sign("api_key not configured (no-tty)"),
        ),
        messages=("wandb.errors.Error", "mlflow.exceptions.MlflowException", "api_key not configured (no-tty)"),
        explanation="Weights & Biases or MLflow was not initialized on this rank, has no key, or cannot reach its "
        "server.",
        remedy="Log on rank 0 only; give the pods WANDB_API_KEY or the address of MLflow, or set WANDB_MODE=offline.",
        source="github.com/bghira/SimpleTuner issue 304",
    ),
    Cause(
        name="extension-build-failed",
        title="a CUDA or C++ extension does not compile in the pod",
        signs=(
            Sign("Error building extension"),
            Sign("ninja: build stopped"),
            Sign("has no attribute 'ds_opt_adam'"),
            Sign("Failed to find C compiler"),
            Sign("CUDA_HOME environment variable is not set"),
            Sign("CUDA_HOME does not exist"),
            Sign("does not match the version torch was compiled with"),
            Sign("mismatches the version that was used to compile"),
            Sign("fatal error: Python.h"),
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
            Sign("139", r"(?i)\b(?:exit|status)\w*(?: with)?[ _]?(?:status )?(?:code)?\W{1,12}139\b"),
            Sign("exited on signal", r"exited on signal (?:11|6|4)\b"),
            Sign("Caught signal ", r"Caught signal (?:11|6|4|8)\b"),
            Sign("134", r"(?i)\b(?:exit|status)\w*(?: with)?[ _]?(?:status )?(?:code)?\W{1,12}134\b"),
            Sign("Fatal Python error: "),
            Sign("(core dumped)", r"(?:Segmentation fault|Aborted|Illegal instruction) \(core dumped\)"),
            Sign("terminate called "),
        ),
        level=Level.CONSEQUENCE,
        confidence="low",
        ended_by_agent=True,
        hides=("crash-loop", "backoff-limit"),
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
            Sign("exitCode", r"exitCode\"?: [1-9]"),
            Sign("one or more processes exited with non-zero status"),
            Sign("replica(s) failed", r"is failed because \d+ \w+ replica\(s\) failed"),
            Sign("Error: ", _EXCEPTION),
            Sign("Exception: ", _EXCEPTION),
            Sign("AssertionError", r"(?:^|[\]\s])AssertionError$"),
        ),
        unless=r"(?i)exception ignored|during handling|\bwarn(?:ing)?\b|Engine core init|WorkerProc init",
        level=Level.ENDING,
        confidence="low",
        ended_by_agent=True,
        messages=(
            "failed (exitcode: 1) local_rank: 0",
            "Exit Code: 1",
            "one or more processes exited with non-zero status",
            "ValueError: ...",
        ),
        explanation="The evidence is the exception of the program, or the exit code that torchrun, Horovod or "
        "Kubernetes reports.",
        remedy="Read the end of the log of the rank that failed first. `@record` of torch.distributed.elastic on the "
        "main function shows its exception in torchrun's report.",
        source="github.com/Vision-CAIR/MiniGPT-4 issue 237",
    ),
)
