"""Drivers, CUDA builds and visible GPUs."""

from __future__ import annotations

from trainyard.commands.doctor.cause import Cause, Sign

CAUSES = (
    Cause(
        name="driver-library-mismatch",
        title="the driver's module and library have different versions",
        signs=(
            Sign("Driver/library version mismatch"),
            Sign("driver/library version mismatch"),
            Sign("system has unsupported display driver / cuda driver combination"),
        ),
        hides=("gpu-container-hook",),
        messages=("Driver/library version mismatch", "system has unsupported display driver (803)"),
        explanation="The driver of the node was updated, but its old kernel module is still loaded.",
        remedy="Drain and reboot the node, and exclude the driver from unattended updates.",
        source="github.com/saharmor/dalle-playground issue 104",
    ),
    Cause(
        name="driver-install-failed",
        title="the driver cannot be installed on a node",
        signs=(
            Sign("appears to already be loaded in", r"kernel module '[\w-]+' appears to already be loaded"),
            Sign("Unable to load the kernel module", r"Unable to load the kernel module '?nvidia"),
        ),
        explanation="Another version of the kernel module is in use on the node, or the new one does not fit its "
        "kernel. The pod that installs the driver fails until the node is drained.",
        remedy="Drain the node and end its GPU pods, then restart the driver's pod or reboot. Install the driver in "
        "one way only: with the image of the node, or with the operator.",
        source="github.com/GoogleCloudPlatform/container-engine-accelerators issue 107",
    ),
    Cause(
        name="driver-too-old",
        title="the driver is older than the CUDA of the image",
        signs=(
            Sign("NVIDIA driver on your system is too old"),
            Sign("CUDA driver version is insufficient for CUDA runtime version"),
        ),
        explanation="Each CUDA release needs a minimum version of the driver.",
        remedy="Update the driver of the nodes, or use an image with an older CUDA.",
        source="docs.nvidia.com/deploy/cuda-compatibility",
    ),
    Cause(
        name="no-kernel-image",
        title="PyTorch or an extension is not built for this GPU",
        signs=(Sign("no kernel image is available for execution"), Sign("is not compatible with the current PyTorch")),
        explanation="The build has no code for the compute capability of the GPU.",
        remedy="Install a build of PyTorch for this GPU, and build extensions with TORCH_CUDA_ARCH_LIST for it.",
        source="github.com/iPERDance/iPERCore issue 128",
    ),
    Cause(
        name="no-gpu-visible",
        title="the container sees no GPU",
        signs=(
            Sign("No CUDA GPUs are available"),
            Sign("no CUDA-capable device is detected"),
            Sign("CUDA_ERROR_NO_DEVICE"),
            Sign("Found no NVIDIA driver on your system"),
        ),
        explanation="The pod requests no GPU, the container runtime does not pass it, or "
        "CUDA_VISIBLE_DEVICES hides it.",
        remedy="Request nvidia.com/gpu, check the device plugin and the runtime class, and run nvidia-smi in the pod.",
        source="github.com/NVIDIA/k8s-device-plugin issue 71",
    ),
    Cause(
        name="invalid-device-ordinal",
        title="more processes than GPUs in a pod",
        signs=(Sign("invalid device ordinal"),),
        explanation="LOCAL_RANK exceeds the number of GPUs that the container sees.",
        remedy="Start as many processes as the pod has GPUs (`processesPerNode`, --nproc-per-node).",
        source="docs.pytorch.org docs/stable/elastic/run.html",
        rules=("torchrun-nproc-gpu-mismatch",),
    ),
    Cause(
        name="gpu-container-hook",
        title="the container runtime cannot give the GPU to the container",
        signs=(Sign("nvidia-container-cli: "),),
        resolved_by=(Sign("Started container"),),
        explanation="The hook that adds driver and devices failed: a GPU or the driver does not answer, the driver is "
        "too old for the image, or the requested device does not exist.",
        remedy="Run nvidia-smi on the node and read its kernel's log. Drain the node if a GPU does not answer.",
        source="github.com/NVIDIA/gpu-operator issue 523",
    ),
    Cause(
        name="fabric-manager-down",
        title="the NVSwitch fabric is not ready (error 802)",
        signs=(Sign("system not yet initialized"),),
        messages=("CUDA error: system not yet initialized (802)",),
        explanation="The fabric manager does not run on the node, or its version differs from the driver's.",
        remedy="Start nvidia-fabricmanager of the driver's version on the node.",
        source="github.com/NVIDIA/NVSentinel issue 883",
    ),
    Cause(
        name="gpu-access-lost",
        title="the driver does not answer in the container",
        signs=(
            Sign("Failed to initialize NVML"),
            Sign("could not load NVML library"),
            Sign("couldn't communicate with the NVIDIA driver"),
            Sign("Can't initialize NVML"),
        ),
        unless=r"(?i)Driver/library version mismatch",
        resolved_by=(Sign("Started container"),),
        explanation="The module of the driver is not loaded, or the container lost its devices when systemd reloaded "
        "(`Unknown Error` in a container that worked before).",
        remedy="Run nvidia-smi on the node. If it works there, restart the pod, and update the container toolkit, "
        "which then passes the devices through CDI.",
        source="github.com/NVIDIA/nvidia-container-toolkit issue 48",
    ),
    Cause(
        name="cuda-library-failed",
        title="cuBLAS, cuDNN or another library of CUDA failed",
        signs=(
            Sign("CUBLAS_STATUS_", r"CUBLAS_STATUS_(?!ALLOC_FAILED|SUCCESS)"),
            Sign("CUDNN_STATUS_", r"CUDNN_STATUS_(?!ALLOC_FAILED|SUCCESS)"),
            Sign("CUSOLVER_STATUS_", r"CUSOLVER_STATUS_(?!SUCCESS)"),
            Sign("CUFFT_", r"CUFFT_(?:ALLOC|INTERNAL|EXEC)_(?:FAILED|ERROR)"),
            Sign("cuDNN error"),
            Sign("DNN library initialization failed"),
            Sign("cuDNN failed to initialize"),
        ),
        unless=r"Check failed: status == CUDNN_STATUS_SUCCESS \(0",
        confidence="medium",
        messages=("CUBLAS_STATUS_EXECUTION_FAILED", "CUDNN_STATUS_INTERNAL_ERROR", "DNN library initialization failed"),
        explanation="The GPU has too little free memory for the library, an earlier kernel failed, a value is out of "
        "range (labels, token ids), or the library does not fit the driver.",
        remedy="Run with CUDA_LAUNCH_BLOCKING=1 and a smaller batch. If it stays, compare the versions of driver, CUDA "
        "and library, and test the GPU.",
        source="github.com/pytorch/pytorch issue 40420",
    ),
    Cause(
        name="cuda-unknown-error",
        title="CUDA cannot be used in this process",
        signs=(
            Sign("CUDA error: unknown error"),
            Sign("CUDA unknown error"),
            Sign("CUDA_ERROR_UNKNOWN"),
            Sign("CUDA error: initialization error"),
            Sign("cudaErrorUnknown"),
        ),
        confidence="medium",
        explanation="The state of the driver or of the container is broken: a module that is missing (nvidia-uvm), a "
        "GPU after a fault, or devices that the container lost.",
        remedy="Run nvidia-smi and a small CUDA program in a new pod on this node; read the kernel's log; reboot it.",
        source="github.com/lm-sys/FastChat issue 1654",
    ),
    Cause(
        name="cuda-in-fork",
        title="a forked process uses CUDA",
        signs=(Sign("Cannot re-initialize CUDA in forked subprocess"),),
        explanation="A process that has used the GPU was forked, for example for data loader workers, and CUDA does "
        "not survive a fork.",
        remedy="Use the start method spawn or forkserver, and keep tensors of the GPU out of the data set.",
        source="github.com/pytorch/pytorch torch/cuda/__init__.py",
    ),
)
