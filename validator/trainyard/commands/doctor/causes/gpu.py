"""Errors of GPUs: XIDs of the kernel's log, and what programs see of them."""

from __future__ import annotations

from trainyard.commands.doctor.cause import Cause, Level, Sign

_MAPPING = "distros/kubernetes/nvsentinel/charts/gpu-health-monitor/xiderrorsmapping.csv"
_XID = f"github.com/NVIDIA/NVSentinel {_MAPPING}"
# Codes of the other causes, and those that the table says to ignore.
_KNOWN = (8, 11, 13, 14, 25, 31, 32, 37, 38, 43, 44, 45, 46, 48, 61, 62, 63, 64, 66, 67, 69, 74, 79, 92, 93, 94, 95)
_KNOWN_LATER = (106, 107, 109, 119, 120, 121, 136, 137, 140, 141, 143, *range(144, 151), 152, 153, 154, 155, 156)
_KNOWN_LAST = (157, 158, 161)


def _xid(*codes: int) -> Sign:
    """Returns the sign of NVIDIA's driver for these errors."""
    return Sign("Xid (", rf"Xid \([^)]*\): (?:{'|'.join(map(str, codes))})\b")


def _other_xid(*codes: int) -> Sign:
    """Returns the sign of NVIDIA's driver for errors that are none of these."""
    return Sign("Xid (", rf"Xid \([^)]*\): (?!(?:{'|'.join(map(str, codes))})\b)\d+")


CAUSES = (
    Cause(
        name="xid-application",
        title="a kernel of the program accessed invalid memory (XID 13, 31, 69)",
        signs=(
            _xid(11, 13, 25, 31, 32, 69),
            Sign("an illegal memory access was encountered"),
            Sign("CUDA error: misaligned address"),
            Sign("an illegal instruction was encountered"),
            Sign("Memory access fault by GPU node"),
            Sign("CUDA error: unspecified launch failure"),
        ),
        confidence="medium",
        messages=(
            "Xid 13",
            "Xid 31",
            "an illegal memory access was encountered",
            "unspecified launch failure",
            "Memory access fault by GPU node-1",
        ),
        hides=("xid-engine-hang",),
        explanation="Mostly a fault of the program or a library. If only one GPU shows it, its hardware is suspect.",
        remedy="Run with CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer; test the GPU with dcgmi diag -r 3.",
        source=_XID,
    ),
    Cause(
        name="xid-memory-uncorrectable",
        title="the memory of a GPU has an uncorrectable error (XID 48, 94, 95, 140)",
        signs=(_xid(48, 94, 95, 140), Sign("uncorrectable ECC error encountered")),
        messages=(
            "Xid 48",
            "Xid 94",
            "Xid 95",
            "uncorrectable ECC error encountered",
        ),
        explanation="ECC found an error that it could not correct, and the driver ended the processes of the GPU.",
        remedy="Drain the node and reset the GPU or reboot. If the error comes back, replace the GPU.",
        source="docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt",
        hides=("xid-row-remapping",),
    ),
    Cause(
        name="xid-row-remapping",
        title="a GPU replaces rows of its memory (XID 63, 64, 156)",
        signs=(_xid(63, 64, 156),),
        messages=(
            "Xid 63",
            "Xid 64",
        ),
        explanation="63: a row is remapped at the next reset. 64: remapping failed, and no spare row may be left.",
        remedy="63: reset the GPU when the node is free. 64: drain the node, and replace the GPU if a reset "
        "does not help.",
        source="docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt",
    ),
    Cause(
        name="xid-nvlink",
        title="NVLink has an error or is down (XID 74, 144 to 150)",
        signs=(_xid(74, 136, *range(144, 151), 155), Sign("Unable to retrieve N", r"(?i)as all links are inactive")),
        messages=(
            "Xid 74",
            "Xid 145",
            "Xid 149",
            "all links are inactive",
        ),
        explanation="A link between GPUs, or to the NVSwitch, has failed. NCCL then hangs or ends.",
        remedy="Drain the node; read nvidia-smi nvlink -e and the log of the fabric manager; reset the GPUs.",
        source="github.com/NVIDIA/open-gpu-kernel-modules issue 1150",
    ),
    Cause(
        name="xid-off-bus",
        title="a GPU has fallen off the bus (XID 79)",
        signs=(_xid(79), Sign("fallen off the bus"), Sign("GPU is lost"), Sign("GPU lost from the bus")),
        messages=(
            "Xid 79",
            "GPU has fallen off the bus",
            "GPU is lost",
        ),
        explanation="The driver cannot reach the GPU over PCIe any more: power, heat, slot or a defect.",
        remedy="Drain and reboot the node. If it happens again, let the vendor check the GPU.",
        source="github.com/NVIDIA/NVSentinel issue 155",
    ),
    Cause(
        name="xid-gsp",
        title="the firmware of a GPU does not answer (XID 119, 120)",
        signs=(_xid(119, 120), Sign("NVRM: ", r"\*\* GSP Timeout \*\*|Timeout (?:after \d+s )?waiting for RPC")),
        messages=(
            "Xid 119",
            "Xid 120",
            "GSP Timeout",
        ),
        explanation="The GPU system processor timed out, and programs on the GPU hang or end.",
        remedy="Drain the node, and reset the GPU or reboot; update the driver if it happens again.",
        source=_XID,
    ),
    Cause(
        name="xid-engine-hang",
        title="an engine of a GPU hangs (XID 8, 46, 61, 62, 109)",
        signs=(_xid(8, 46, 61, 62, 109, 158),),
        confidence="medium",
        messages=(
            "Xid 8",
            "Xid 61",
            "Xid 62",
            "Xid 109",
        ),
        explanation="The GPU or one of its controllers stopped, and the driver ended the work on it. If it comes back "
        "with other programs, the hardware or the driver is suspect.",
        remedy="8: restart the run. Others: drain the node and reset the GPU; update the driver if it comes back.",
        source=_XID,
    ),
    Cause(
        name="xid-other",
        title="the driver reports an error of a GPU",
        signs=(_other_xid(*_KNOWN, *_KNOWN_LATER, *_KNOWN_LAST),),
        confidence="medium",
        messages=("Xid 56", "Xid 110"),
        explanation="An XID that none of the other causes names. NVIDIA's catalog tells what each number means.",
        remedy="Look the number up in the catalog of XID errors. Drain the node if it comes back with another program.",
        source=_XID,
    ),
    Cause(
        name="xid-program-stopped",
        title="the driver ended the work of a program on a GPU (XID 43, 45)",
        signs=(_xid(43, 45),),
        level=Level.CONSEQUENCE,
        confidence="low",
        messages=("Xid 43", "Xid 45"),
        explanation="43: the program made an error. 45: the driver cleans up after an earlier error, or after a "
        "program that was ended.",
        remedy="Look for another XID before it on the same GPU, and read the output of the program.",
        source=_XID,
    ),
    Cause(
        name="gpu-init-failed",
        title="the driver cannot start a GPU",
        signs=(
            _xid(143),
            Sign("rm_init_adapter failed"),
            Sign("RmInitAdapter failed"),
            Sign("NVRM: ", r"FSP command timed out|GPU initialization failed"),
        ),
        messages=("RmInitAdapter failed", "Xid 143"),
        explanation="The GPU does not answer when the driver sets it up: after an earlier fault, with firmware that "
        "does "
        "not fit, or in a virtual machine without the resources that it needs.",
        remedy="Reboot the node. If it stays so, check the version of driver and firmware, and the GPU itself.",
        source="github.com/NVIDIA/nvtrust issue 53",
        hides=("gpu-needs-reset",),
    ),
    Cause(
        name="gpu-needs-reset",
        title="a GPU takes no work until it is reset",
        signs=(Sign("NV_ERR_RESET_REQUIRED"), Sign("CUDA-capable device(s) is/are busy or unavailable")),
        confidence="medium",
        explanation="An earlier fault left the GPU in a state in which the driver refuses new work. The compute mode "
        "`exclusive process` with a second process shows the same message of CUDA.",
        remedy="Drain the node and reset the GPU (nvidia-smi --gpu-reset) or reboot; check nvidia-smi -q for the "
        "compute "
        "mode.",
        source="github.com/kubernetes-sigs/dra-driver-nvidia-gpu issue 982",
    ),
    Cause(
        name="amdgpu-error",
        title="the driver of an AMD GPU reports an error",
        signs=(
            Sign(
                "amdgpu",
                r"amdgpu.*(?:sq_intr: error|GPU reset begin|ring \S+ timeout|page fault|uncorrectable)",
            ),
            Sign("VM_L2_PROTECTION_FAULT"),
            Sign("HW Exception by GPU node"),
        ),
        confidence="medium",
        messages=("amdgpu: sq_intr: error", "amdgpu: GPU reset begin", "HW Exception by GPU node-1"),
        explanation="A program ran an invalid instruction or accessed invalid memory, or the GPU has a fault. The "
        "driver may reset it, and all its programs end.",
        remedy="Read the kernel's log of the node around it; if other programs show it on this GPU, drain the node.",
        source="github.com/ROCm/legacy-rocm-build issue 2494",
    ),
    Cause(
        name="gpu-inforom-corrupted",
        title="the configuration memory of a GPU is damaged",
        signs=(Sign("infoROM is corrupted"),),
        explanation="The infoROM holds settings and counts of errors. ECC and other features may not work any more.",
        remedy="Drain the node; update the firmware of the GPU, or let the vendor replace it.",
        source="github.com/canonical/microk8s issue 3097",
    ),
    Cause(
        name="device-assert",
        title="an assertion in a CUDA kernel failed",
        signs=(
            Sign("device-side assert triggered"),
            Sign("Assertion ", r"block: \[\d+,\d+,\d+\], thread: \[\d+,\d+,\d+\] Assertion .* failed"),
        ),
        explanation="Mostly an index out of range: a label or token id that exceeds the classes or the vocabulary.",
        remedy="Run with CUDA_LAUNCH_BLOCKING=1 to see the operation; check labels and the size of the embedding.",
        source="docs.pytorch.org notes/cuda: asynchronous execution",
    ),
)
