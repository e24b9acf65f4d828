"""Names of the resources that common device plugins offer.

Sources: NVIDIA/k8s-device-plugin README; ROCm/k8s-device-plugin README; aws-neuron k8s-neuron-device-plugin.yml and
aws-neuron/aws-neuron-sdk pull 1006; cloud.google.com/kubernetes-engine: TPUs in GKE; HabanaAI habana-k8s-device-plugin;
Project-HAMi/HAMi charts/hami/values.yaml: resourceName, resourceMem, resourceCores.
"""

from __future__ import annotations

KNOWN = (
    "nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/gpumem", "nvidia.com/gpucores",
    "nvidia.com/gpumem-percentage", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi",
    "google.com/tpu", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "vpc.amazonaws.com/efa",
    "huawei.com/Ascend910", "rdma/hca", "rdma/ib",
)  # fmt: skip
# Names of other plugins that resemble these.
OTHERS = frozenset(("nvidia.com/vgpu", "nvidia.com/pgpu", "amd.com/cpu", "rdma/hca_a", "rdma/iba"))
# Domains whose plugins offer these resources alone, whatever their configuration.
CLOSED: dict[str, tuple[str, ...]] = {
    "aws.amazon.com": ("neuron", "neuroncore"),
    "google.com": ("tpu",),
    "habana.ai": ("gaudi",),
    "hami.io": (),
}
# Names that nothing offers, or no longer, by the one that is meant.
MEANT = {
    "aws.amazon.com/neurondevice": "aws.amazon.com/neuron", "habana.ai/hpu": "habana.ai/gaudi",
    "google.com/tpus": "google.com/tpu",
    **dict.fromkeys(("hami.io/vgpu", "hami.io/gpu"), "nvidia.com/gpu"),
    **dict.fromkeys(
        (
            "nvidia.com/gpumemory", "nvidia.com/gpu-memory", "nvidia.com/gpu-mem", "nvidia.com/vgpumem",
            "hami.io/vgpu-memory", "hami.io/gpumem", "hami.io/gpu-memory",
        ),
        "nvidia.com/gpumem",
    ),
    **dict.fromkeys(
        ("nvidia.com/gpu-cores", "nvidia.com/gpu-core", "hami.io/vgpu-core", "hami.io/vgpu-cores", "hami.io/gpucores"),
        "nvidia.com/gpucores",
    ),
}  # fmt: skip
