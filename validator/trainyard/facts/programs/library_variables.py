"""Environment variables of libraries with the values that they take, by name.

Sources: vllm-project/vllm 001f69f vllm/envs.py; huggingface/text-generation-inference launcher/src/main.rs: Args;
huggingface/huggingface_hub src/huggingface_hub/constants.py; huggingface/accelerate 1.15.0 utils/environment.py and
utils/dataclasses.py; pytorch 2.15.0 torch/csrc/distributed/c10d/debug.cpp, torch/distributed/rendezvous.py;
openucx/ucx src/ucs/config/global_opts.c, src/uct/ib/mlx5/dv/ib_mlx5dv_md.c; libfabric fi_getinfo(3), man fabric(7);
wandb/wandb sdk/wandb_settings.py; horovod/horovod v0.28.1 common/logging.cc; NVIDIA container toolkit, driver
capabilities; CUDA C programming guide, environment variables; NVIDIA/k8s-device-plugin v0.12.0 to v0.20.0
cmd/nvidia-device-plugin/main.go, cmd/gpu-feature-discovery/main.go, api/config/v1/consts.go; NVIDIA/dcgm-exporter
4.8.2 pkg/cmd/app.go, internal/pkg/appconfig/const.go; Go strconv.ParseBool.
"""

from __future__ import annotations

from trainyard.facts.programs.hugging_face import SWITCH_WORDS, VARIABLE_FALSE, VARIABLE_TRUE
from trainyard.startup import NamedTuple


class Values(NamedTuple):
    """The values of a variable.

    `form` is "integer", "number", "word", or "integers", "counts" (above 0) and "words" in a list. In "transports", a
    list of UCX, `^` or a backslash precede a word. `words` are the accepted words in lower case, unless `is_exact`.
    With `image`, only programs of images with this text read the variable so. `effect` completes "..., so the program
    ..." for another value.
    """

    form: str
    words: tuple[str, ...] = ()
    effect: str = "stops when it reads the variable"
    is_exact: bool = False
    image: str = ""


def _all(names: str, values: Values) -> dict[str, Values]:
    return dict.fromkeys(names.split(), values)


_INTEGER = Values("integer")
_NUMBER = Values("number")
_SILENT = "takes it for false"
_HF = Values("word", (*VARIABLE_TRUE, *VARIABLE_FALSE), _SILENT)
_YES = Values("word", SWITCH_WORDS)
_SERVER = "text-generation-inference"
_IGNORED = "ignores the variable"
# Flags of urfave/cli: an empty variable leaves a switch off.
_GO_SWITCH = ("true", "false", "1", "0", "t", "f", "")
_PLUGIN = "k8s-device-plugin"
_EXPORTER = "dcgm-exporter"
_MIG = ("none", "single", "mixed", "")
_DISCOVERY = ("auto", "nvml", "tegra", "")

# src/uct of UCX 1.20 and the aliases of src/ucp/core/ucp_context.c.
_TRANSPORTS = """
all tcp sm shm mm self loopback posix sysv xpmem knem cma ib rc rc_v rc_x rc_verbs rc_mlx5 ud ud_v ud_x ud_verbs ud_mlx5
dc dc_x dc_mlx5 srd cuda cuda_copy cuda_ipc gdr_copy rocm rocm_copy rocm_ipc rocm_gdr ze ze_copy ze_ipc ze_gdr gaudi
gaudi_gdr gga gga_mlx5 ugni ugni_rdma ugni_smsg ugni_udt rdmacm sockcm mad rc_gda gda mm_posix mm_sysv
"""

KNOWN: dict[str, Values] = {
    "UCX_TLS": Values("transports", tuple(_TRANSPORTS.split()), "has no transport of this name"),
    # vLLM converts each of them with `int`, switches too. Those that it has removed, such as VLLM_USE_V1 (pull 28204),
    # are left out: later releases only warn of an unknown variable.
    **_all(
        "VLLM_CONFIGURE_LOGGING VLLM_DISABLE_COMPILE_CACHE VLLM_DP_MASTER_PORT VLLM_DP_RANK VLLM_DP_RANK_LOCAL "
        "VLLM_DP_SIZE VLLM_ENABLE_V1_MULTIPROCESSING VLLM_FUSED_MOE_CHUNK_SIZE VLLM_HTTP_TIMEOUT_KEEP_ALIVE "
        "VLLM_IMAGE_FETCH_TIMEOUT VLLM_VIDEO_FETCH_TIMEOUT VLLM_AUDIO_FETCH_TIMEOUT VLLM_MLA_DISABLE "
        "VLLM_MOE_DP_CHUNK_SIZE VLLM_RPC_TIMEOUT "
        "VLLM_SERVER_DEV_MODE VLLM_ROCM_FP8_PADDING VLLM_V1_OUTPUT_PROC_CHUNK_SIZE",
        _INTEGER,
    ),
    **_all("VLLM_LOG_BATCHSIZE_INTERVAL VLLM_RAY_PER_WORKER_GPUS", _NUMBER),
    "VLLM_LOGGING_LEVEL": Values("word", ("debug", "info", "warning", "warn", "error", "critical", "fatal", "notset")),
    "VLLM_WORKER_MULTIPROC_METHOD": Values("word", ("fork", "spawn"), is_exact=True),
    **_all(
        "VLLM_ALLOW_LONG_MAX_MODEL_LEN VLLM_ALLOW_RUNTIME_LORA_UPDATING",
        Values("word", ("1", "true", "0", "false", ""), _SILENT),
    ),
    # Text Generation Inference reads its options from variables of the same names.
    **_all(
        "SHARDED TRUST_REMOTE_CODE DISABLE_CUSTOM_KERNELS JSON_OUTPUT NGROK DISABLE_GRAMMAR_SUPPORT "
        "ENABLE_PREFILL_LOGPROBS",
        Values("word", ("true", "false"), is_exact=True, image=_SERVER),
    ),
    **_all(
        "NUM_SHARD VALIDATION_WORKERS SPECULATE MAX_CONCURRENT_REQUESTS MAX_BEST_OF MAX_STOP_SEQUENCES "
        "MAX_TOP_N_TOKENS MAX_INPUT_TOKENS MAX_INPUT_LENGTH MAX_TOTAL_TOKENS MAX_BATCH_PREFILL_TOKENS "
        "MAX_BATCH_TOTAL_TOKENS MAX_WAITING_TOKENS MAX_BATCH_SIZE PROMETHEUS_PORT MAX_CLIENT_BATCH_SIZE PAYLOAD_LIMIT",
        Values("integer", image=_SERVER),
    ),
    **_all("WAITING_SERVED_RATIO CUDA_MEMORY_FRACTION", Values("number", image=_SERVER)),
    "DTYPE": Values("word", ("float16", "bfloat16"), is_exact=True, image=_SERVER),
    "USAGE_STATS": Values("word", ("on", "off", "no-stack"), is_exact=True, image=_SERVER),
    # Hugging Face.
    **_all(
        "HF_HUB_OFFLINE TRANSFORMERS_OFFLINE HF_DATASETS_OFFLINE HF_HUB_DISABLE_TELEMETRY HF_HUB_DISABLE_XET "
        "HF_HUB_DISABLE_PROGRESS_BARS HF_HUB_DISABLE_SYMLINKS HF_HUB_DISABLE_IMPLICIT_TOKEN HF_HUB_ENABLE_HF_TRANSFER "
        "HF_XET_HIGH_PERFORMANCE HF_HUB_DISABLE_SYMLINKS_WARNING HF_HUB_DISABLE_EXPERIMENTAL_WARNING",
        _HF,
    ),
    **_all("HF_HUB_DOWNLOAD_TIMEOUT HF_HUB_ETAG_TIMEOUT", _INTEGER),
    **_all("ACCELERATE_USE_FSDP ACCELERATE_USE_DEEPSPEED ACCELERATE_USE_CPU ACCELERATE_DEBUG_MODE", _YES),
    "ACCELERATE_MIXED_PRECISION": Values("word", ("no", "fp16", "bf16", "fp8")),
    "FSDP_SHARDING_STRATEGY": Values(
        "word",
        ("full_shard", "shard_grad_op", "no_shard", "hybrid_shard", "hybrid_shard_zero2", "1", "2", "3", "4", "5"),
    ),
    "FSDP_AUTO_WRAP_POLICY": Values("word", ("transformer_based_wrap", "size_based_wrap", "no_wrap")),
    "FSDP_STATE_DICT_TYPE": Values("word", ("full_state_dict", "local_state_dict", "sharded_state_dict")),
    "WANDB_MODE": Values("word", ("online", "offline", "disabled", "dryrun", "run", "shared")),
    # PyTorch.
    "TORCH_DISTRIBUTED_DEBUG": Values("word", ("off", "info", "detail")),
    "TORCH_CPP_LOG_LEVEL": Values(
        "word", ("info", "warning", "error", "fatal", "0", "1", "2", "3"), "logs on the default level"
    ),
    **_all("MASTER_PORT WORLD_SIZE RANK", _INTEGER),
    "OMP_NUM_THREADS": Values("counts", effect="ignores it, and starts a thread for each processor"),
    # CUDA and its containers.
    "CUDA_DEVICE_ORDER": Values("word", ("fastest_first", "pci_bus_id"), _IGNORED),
    "CUDA_MODULE_LOADING": Values("word", ("default", "lazy", "eager"), _IGNORED),
    **_all("CUDA_LAUNCH_BLOCKING CUDA_DEVICE_MAX_CONNECTIONS", Values("integer", effect=_IGNORED)),
    "NVIDIA_DRIVER_CAPABILITIES": Values(
        "words",
        ("all", "compute", "compat32", "graphics", "utility", "video", "display", "ngx"),
        "does not start: the container runtime refuses the capability",
    ),
    # Networks.
    "UCX_LOG_LEVEL": Values(
        "word",
        ("fatal", "error", "warn", "diag", "info", "debug", "trace", "req", "data", "async", "func", "poll",
         "trace_req", "trace_data", "trace_async", "trace_func", "trace_poll"),
    ),
    "UCX_IB_MLX5_DEVX_OBJECTS": Values("words", ("rcqp", "rcsrq", "dct", "dcsrq", "dci", "cq", "")),
    "FI_LOG_LEVEL": Values("word", ("warn", "trace", "info", "debug", ""), "logs warnings only"),
    **_all(
        "FI_EFA_USE_DEVICE_RDMA FI_EFA_FORK_SAFE FI_EFA_ENABLE_SHM_TRANSFER FI_EFA_USE_HUGE_PAGE",
        Values("word", ("0", "1", "yes", "no", "true", "false", "on", "off"), "uses the default"),
    ),
    "HOROVOD_LOG_LEVEL": Values(
        "word", ("trace", "debug", "info", "warning", "error", "fatal", "0", "1", "2", "3", "4", "5"), _IGNORED
    ),
    **_all("HOROVOD_FUSION_THRESHOLD HOROVOD_CACHE_CAPACITY", Values("integer", effect="reads another number")),
    # NVIDIA's device plugin and GPU feature discovery.
    "MIG_STRATEGY": Values("word", _MIG, is_exact=True, image=_PLUGIN),
    "GFD_MIG_STRATEGY": Values("word", _MIG, is_exact=True),
    "DEVICE_LIST_STRATEGY": Values(
        "words", ("envvar", "volume-mounts", "cdi-annotations", "cdi-cri", ""), image=_PLUGIN
    ),
    "DEVICE_ID_STRATEGY": Values("word", ("uuid", "index", ""), is_exact=True, image=_PLUGIN),
    "DEVICE_DISCOVERY_STRATEGY": Values("word", _DISCOVERY, is_exact=True, image=_PLUGIN),
    "SHARED_DEVICES_ALLOCATION_POLICY": Values("word", ("distributed", "packed", ""), is_exact=True, image=_PLUGIN),
    **_all(
        "FAIL_ON_INIT_ERROR PASS_DEVICE_SPECS GDS_ENABLED MOFED_ENABLED GDRCOPY_ENABLED IMEX_REQUIRED",
        Values("word", _GO_SWITCH, image=_PLUGIN),
    ),
    **_all("GFD_ONESHOT GFD_FAIL_ON_INIT_ERROR GFD_NO_TIMESTAMP", Values("word", _GO_SWITCH)),
    # NVIDIA's exporter of DCGM.
    "DCGM_EXPORTER_KUBERNETES_GPU_ID_TYPE": Values(
        "word", ("uid", "device-name", ""), "maps no GPU to its pod", is_exact=True
    ),
    **_all(
        "DCGM_EXPORTER_KUBERNETES DCGM_EXPORTER_USE_OLD_NAMESPACE DCGM_EXPORTER_NO_HOSTNAME DCGM_EXPORTER_DEBUG "
        "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS DCGM_EXPORTER_KUBERNETES_ENABLE_POD_UID "
        "DCGM_EXPORTER_USE_FAKE_GPUS DCGM_EXPORTER_REPLACE_BLANKS_IN_MODEL_NAME DCGM_EXPORTER_ENABLE_DCGM_LOG "
        "DCGM_EXPORTER_DUMP_ENABLED DCGM_EXPORTER_DUMP_COMPRESSION DCGM_EXPORTER_ENABLE_PPROF "
        "DCGM_EXPORTER_ENABLE_GPU_BIND_UNBIND_WATCH",
        Values("word", _GO_SWITCH),
    ),
    **_all("KUBERNETES_VIRTUAL_GPUS KUBERNETES_ENABLE_DRA", Values("word", _GO_SWITCH, image=_EXPORTER)),
    **_all(
        "DCGM_EXPORTER_INTERVAL DCGM_EXPORTER_XID_COUNT_WINDOW_SIZE DCGM_EXPORTER_CLOCK_EVENTS_COUNT_WINDOW_SIZE "
        "DCGM_EXPORTER_DUMP_RETENTION",
        Values("integer"),
    ),
}  # fmt: skip

# Options of PyTorch's allocator, of all releases since 1.10.
ALLOCATOR = (
    "max_split_size_mb", "roundup_power2_divisions", "roundup_bypass_threshold_mb", "garbage_collection_threshold",
    "expandable_segments", "backend", "release_lock_on_cudamalloc", "release_lock_on_hipmalloc",
    "pinned_use_cuda_host_register", "pinned_use_hip_host_register", "pinned_num_register_threads",
    "pinned_use_background_threads", "pinned_max_register_threads", "pinned_reserve_segment_size_mb",
    "graph_capture_record_stream_reuse", "per_process_memory_fraction", "throw_on_cudamalloc_oom",
    "large_segment_size_mb", "pinned_max_power2_size_mb", "pinned_max_round_threshold_mb",
    "pinned_max_cached_size_mb",
)  # fmt: skip
# What PyTorch checks of their values: c10/core/AllocatorConfig.cpp and c10/cuda/CUDAAllocatorConfig.cpp of 2.15.0. It
# reads the number at the start of a value, as `stoi` does: `512MB` is 512, and `1GB` is 1.
ALLOCATOR_SWITCHES = (
    "expandable_segments", "release_lock_on_cudamalloc", "release_lock_on_hipmalloc", "pinned_use_cuda_host_register",
    "pinned_use_hip_host_register", "pinned_use_background_threads", "graph_capture_record_stream_reuse",
    "throw_on_cudamalloc_oom",
)  # fmt: skip
ALLOCATOR_POWERS = ("roundup_power2_divisions", "pinned_num_register_threads")
ALLOCATOR_BACKENDS = ("native", "cudaMallocAsync", "hipMallocAsync")
SMALLEST_SPLIT = 20

# Names that users misspell, and that nothing but their library reads. Shorter ones resemble names of other programs.
COMMON = (
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS",
    "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
    "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "TORCH_DISTRIBUTED_DEBUG", "TORCH_CPP_LOG_LEVEL",
    "GLOO_SOCKET_IFNAME", "TOKENIZERS_PARALLELISM", "TRANSFORMERS_CACHE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_CACHE",
    "HF_DATASETS_OFFLINE", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_HUB_ENABLE_HF_TRANSFER", "HF_HUB_DISABLE_XET",
    "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_HUB_CACHE", "WANDB_API_KEY", "WANDB_PROJECT", "VLLM_LOGGING_LEVEL",
    "VLLM_WORKER_MULTIPROC_METHOD", "VLLM_ATTENTION_BACKEND", "VLLM_HOST_IP", "VLLM_ALLOW_LONG_MAX_MODEL_LEN",
    "PYTHONUNBUFFERED", "LD_LIBRARY_PATH", "UCX_NET_DEVICES", "UCX_LOG_LEVEL", "FI_PROVIDER", "FI_LOG_LEVEL",
    "FI_EFA_USE_DEVICE_RDMA", "FI_EFA_FORK_SAFE", "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
    "MASTER_ADDR", "MASTER_PORT", "RAY_ADDRESS", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR",
    # libfabric fi_cxi(7), fi_mr(3); aws/aws-ofi-nccl include/nccl_ofi_param.h; openucx/ucx src/ucp and src/uct/ib.
    "FI_CXI_OFLOW_BUF_SIZE", "FI_CXI_REQ_BUF_SIZE", "FI_CXI_DEFAULT_CQ_SIZE", "FI_CXI_DEFAULT_TX_SIZE",
    "FI_CXI_RX_MATCH_MODE", "FI_CXI_RDZV_THRESHOLD", "FI_CXI_DISABLE_HOST_REGISTER", "FI_MR_CACHE_MONITOR",
    "FI_EFA_ENABLE_SHM_TRANSFER", "FI_EFA_USE_HUGE_PAGE", "OFI_NCCL_PROTOCOL", "UCX_IB_GID_INDEX",
    "UCX_RNDV_SCHEME", "UCX_RNDV_THRESH", "UCX_MAX_RNDV_RAILS", "UCX_MEMTYPE_CACHE",
)  # fmt: skip
