"""The settings of a plan: the options of the user, over what the run's files say, over assumptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trainyard.commands.plan.configs import model_of, shape_of_trainer
from trainyard.commands.plan.errors import PlanError
from trainyard.commands.plan.estimate import NODES_PER_RACK, Conditions
from trainyard.commands.plan.fabrics import Fabric, fabric_names, fabric_of
from trainyard.commands.plan.failures import GPU_MTBF_HOURS
from trainyard.commands.plan.hardware import Gpu, gpu_names, gpu_of
from trainyard.commands.plan.job import Job
from trainyard.commands.plan.layout import Layout, state_of
from trainyard.commands.plan.shapes import Shape
from trainyard.document.lookup import integer, mapping, text

# The trainer's strategies.
_OF_TRAINER = {"ddp": "ddp", "fsdp2": "fsdp", "tensor": "ddp"}
# Without a token budget, Chinchilla's: 20 tokens per parameter (arXiv:2203.15556).
_TOKENS_PER_PARAMETER = 20
# Bytes per second that a node writes to storage: inferred, a shared file system of a few nodes.
_STORAGE_PER_NODE = 1e9
# Seconds from a failure to the next step: inferred, the pods start again and read the checkpoint.
_RESTART = 600.0
_SEQUENCE = 4096
_GPUS_PER_NODE = 8


class Given(NamedTuple):
    """The options of the user; None, empty or False stands for one that is not given."""

    model: str | None = None
    gpu: str | None = None
    fabric: str | None = None
    nodes: int | None = None
    gpus_per_node: int | None = None
    strategy: str | None = None
    tensor: int | None = None
    pipeline: int | None = None
    virtual: int | None = None
    offload: bool = False
    sequence: int | None = None
    micro_batch: int | None = None
    global_batch: int | None = None
    recompute: str | None = None
    dtype: str | None = None
    tokens: float | None = None
    price: float | None = None
    gpu_mtbf_hours: float | None = None
    storage: float | None = None
    restart: float | None = None
    nodes_per_rack: int | None = None


class Settings(NamedTuple):
    """Everything that a plan needs, and the assumptions among it, in words."""

    shape: Shape
    layout: Layout
    gpu: Gpu
    fabric: Fabric
    conditions: Conditions
    nodes_per_rack: int
    assumptions: tuple[str, ...]


def settings(given: Given, job: Job | None) -> Settings:
    """Returns what is planned. Raises `PlanError` if the model, the GPU or the size is not known."""
    assumed: list[str] = []
    shape = _shape(given, job)
    gpu = _gpu(given, job)
    if job is not None:
        assumed += _of_size(given, job)
    layout = _layout(given, job, shape, assumed)
    fabric = _fabric(given, job, layout, assumed)
    tokens = given.tokens
    if tokens is None:
        tokens = float(_TOKENS_PER_PARAMETER * shape.parameters)
        assumed.append(f"--tokens {tokens:.3g}: {_TOKENS_PER_PARAMETER} per parameter (arXiv:2203.15556)")
    storage = given.storage
    if storage is None:
        storage = _STORAGE_PER_NODE * layout.nodes
        assumed.append(f"--storage {storage / 1e9:g} GB/s: 1 GB/s per node")
    if given.gpu_mtbf_hours is None:
        assumed.append(f"--mtbf {GPU_MTBF_HOURS:,.0f} hours of one GPU: Llama 3 on 16,384 GPUs (arXiv:2407.21783)")
    if given.restart is None:
        assumed.append(f"--restart {_RESTART / 60:g} minutes from a failure to the next step")
    if given.nodes_per_rack is None:
        assumed.append(f"--nodes-per-rack {NODES_PER_RACK}: a DGX SuperPOD with H100")
    conditions = Conditions(
        tokens=tokens,
        price=given.price,
        gpu_mtbf_hours=given.gpu_mtbf_hours or GPU_MTBF_HOURS,
        storage=storage,
        restart=_RESTART if given.restart is None else given.restart,
    )
    return Settings(shape, layout, gpu, fabric, conditions, given.nodes_per_rack or NODES_PER_RACK, tuple(assumed))


def _of_size(given: Given, job: Job) -> Iterator[str]:
    """Yields the assumptions about the size of a run."""
    if given.nodes is not None:
        yield f"--nodes {given.nodes}, instead of the {job.pods} pods of the run"
    if given.gpus_per_node is None and job.gpus_per_pod < _GPUS_PER_NODE and job.pods > 1:
        yield f"--gpus-per-node {job.gpus_per_pod}: each pod is on a node of its own"
    if job.processes is not None and job.processes != job.gpus_per_pod:
        yield f"each of the {job.gpus_per_pod} GPUs of a pod has a rank, although the run starts {job.processes}"


def _shape(given: Given, job: Job | None) -> Shape:
    if given.model is not None:
        return model_of(given.model)
    found = shape_of_trainer(job.trainer) if job is not None else None
    if found is None:
        raise PlanError(
            "the run does not say which model it trains; name it with --model, as --model llama-3-8b or "
            "--model path/to/config.json"
        )
    return found


def _gpu(given: Given, job: Job | None) -> Gpu:
    name = given.gpu or (job.gpu if job is not None else "")
    if not name:
        raise PlanError(
            "the run does not select nodes by `nvidia.com/gpu.product`, so its GPU is not known; name it with --gpu, "
            f"one of {', '.join(gpu_names())}"
        )
    return gpu_of(name)


def _fabric(given: Given, job: Job | None, layout: Layout, assumed: list[str]) -> Fabric:
    if given.fabric is not None:
        return fabric_of(given.fabric)
    profile = job.fabric if job is not None else ""
    if profile in fabric_names():
        return fabric_of(profile)
    if layout.nodes == 1:
        return fabric_of("8x400")
    if profile:
        raise PlanError(
            f"the profile {profile} does not say how fast the network is; give ports and Gbit/s of a node, as "
            "--fabric 8x400"
        )
    name = "ethernet-25g"
    assumed.append(f"--fabric {name}: the run names no fabric profile, so its nodes use the pod network")
    return fabric_of(name)


def _layout(given: Given, job: Job | None, shape: Shape, assumed: list[str]) -> Layout:
    trainer: Mapping[str, Any] = job.trainer if job is not None else {}
    deepspeed: Mapping[str, Any] = job.deepspeed if job is not None else {}
    gpus_per_node = given.gpus_per_node or (job.gpus_per_pod if job is not None else _GPUS_PER_NODE)
    if given.nodes is not None:
        gpus = given.nodes * gpus_per_node
    elif job is not None:
        gpus = job.gpus
    else:
        raise PlanError("name the run with -f, or its size with --nodes and --gpus-per-node")
    strategy = given.strategy or _strategy(trainer, deepspeed)
    if strategy is None:
        strategy = "fsdp"
        assumed.append("--strategy fsdp: the run does not say how the model is spread")
    tensor = given.tensor or (int(trainer.get("tensor_size", 2)) if trainer.get("strategy") == "tensor" else 1)
    sequence = given.sequence or integer(trainer, "context_length")
    if sequence is None:
        sequence = shape.positions or _SEQUENCE
        assumed.append(f"--sequence {sequence} tokens")
    layout = Layout(
        gpus=gpus,
        gpus_per_node=min(gpus_per_node, gpus),
        strategy=strategy,
        sequence=sequence,
        micro_batch=1,
        accumulation=1,
        tensor=tensor,
        pipeline=given.pipeline or 1,
        virtual=given.virtual or 1,
        shard=int(trainer.get("shard_size", 0) or 0),
        offload=given.offload or _offloads(trainer, deepspeed),
        recompute=given.recompute or ("full" if trainer.get("activation_checkpointing") else "none"),
        dtype=given.dtype or _dtype(trainer),
        state=state_of(strategy),
    )
    return _with_batch(given, trainer, deepspeed, layout, assumed)


def _strategy(trainer: Mapping[str, Any], deepspeed: Mapping[str, Any]) -> str | None:
    stage = integer(dict(deepspeed), "zero_optimization", "stage")
    if deepspeed:
        return f"zero{stage}" if stage in (1, 2, 3) else "ddp"
    named = trainer.get("strategy", "ddp") if trainer else None
    if named == "deepspeed":
        return f"zero{trainer.get('zero_stage', 1)}"
    if named == "fsdp2" and trainer.get("shard_size"):
        return "hsdp"
    return _OF_TRAINER.get(str(named))


def _offloads(trainer: Mapping[str, Any], deepspeed: Mapping[str, Any]) -> bool:
    device = text(mapping(dict(deepspeed), "zero_optimization", "offload_optimizer"), "device")
    return device in ("cpu", "nvme") or (trainer.get("strategy") == "deepspeed" and trainer.get("offload") == "cpu")


def _dtype(trainer: Mapping[str, Any]) -> str:
    named = str(trainer.get("precision", "auto"))
    if named == "fp32":
        return "tf32" if trainer.get("tf32") else "fp32"
    return named if named == "fp16" else "bf16"


def _with_batch(
    given: Given, trainer: Mapping[str, Any], deepspeed: Mapping[str, Any], layout: Layout, assumed: list[str]
) -> Layout:
    """Returns the layout with its batches. Raises `PlanError` if the ranks cannot share the global batch equally."""
    copies = max(layout.data, 1)
    micro = (
        given.micro_batch or _count(deepspeed, "train_micro_batch_size_per_gpu") or _count(trainer, "micro_batch_size")
    )
    whole = given.global_batch or _count(trainer, "batch_size")
    if whole is None:
        # A pipeline is idle without several micro-batches per stage.
        usual = 4 * layout.pipeline if layout.pipeline > 1 else 1
        steps = _count(deepspeed, "gradient_accumulation_steps") or usual
        if micro is None:
            micro = 1
            assumed.append(f"--micro-batch 1 sequence per GPU, --global-batch {copies * steps}")
        return layout._replace(micro_batch=micro, accumulation=steps)
    per_rank, rest = divmod(whole, copies)
    if rest or not per_rank:
        raise PlanError(f"a global batch of {whole} sequences cannot be divided by {copies} data-parallel ranks")
    micro = micro or (1 if layout.pipeline > 1 else per_rank)
    if per_rank % micro:
        raise PlanError(f"{per_rank} sequences per rank cannot be divided into micro-batches of {micro}")
    return layout._replace(micro_batch=micro, accumulation=per_rank // micro)


def _count(tree: Mapping[str, Any], name: str) -> int | None:
    """Returns a positive count, None if there is none: DeepSpeed writes `auto`, and the trainer 0."""
    return integer(dict(tree), name) or None
