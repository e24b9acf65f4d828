"""Hypothesis strategies for values of charts/training-job: every shape that its schema accepts, with tricky texts.

`VALUES` are values that a user could mean, with occasional errors that the chart must refuse. `ARBITRARY_VALUES` has
anything of the right type in parts that the chart passes on unchanged.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

# Texts that templates, YAML or a shell could misread, and that must arrive unchanged.
TRICKY_TEXTS = (
    "", " ", " leading", "trailing ", "it's", '"quoted"', "{{ .Values.nodes }}", "$HOME", "$(HOME)", "$$", "a: b",
    "a #b", "- a", "yes", "null", "~", "0x1f", "010", "1e3", "1_000", "two\nlines", "a\n\n  b\n", "\n", "tab\there",
    "\\n", "%TAG", "*a", "&a", "!a", "@a", "`a`", "[a, b]", "{a: b}", "|", ">", "é", "日本", "'", '"',
    "\u2028", "\u200b", "\U0001f525",
)  # fmt: skip
# No control characters: YAML cannot represent most of them, so Helm's own output would be unreadable.
CHARACTERS = st.one_of(
    st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co"), exclude_characters="\ufeff"), st.sampled_from("\n\t")
)
TEXT = st.one_of(st.sampled_from(TRICKY_TEXTS), st.text(CHARACTERS, max_size=12))
# Without quotes, YAML reads some names as numbers or booleans: all readers must agree.
YAML_LOOKALIKES = st.sampled_from(("yes", "1", "0x10", "1e3", "null", "on", "010"))
NUMBER = st.one_of(
    st.integers(-10, 100), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False), st.just(2.0)
)
SCALAR = st.one_of(TEXT, NUMBER, st.booleans())
COUNT = st.one_of(st.integers(1, 9), st.sampled_from((999_999, 1_000_000, 12_345_678)))
NAME = st.from_regex(r"[A-Z_][A-Z0-9_]{0,6}", fullmatch=True)
KEY = st.from_regex(r"[a-z]{1,4}(\.io/[a-z]{1,3})?", fullmatch=True)
TREE = st.recursive(st.one_of(TEXT, NUMBER, st.booleans(), st.none()), lambda inner: st.one_of(
    st.lists(inner, max_size=2), st.dictionaries(KEY, inner, max_size=2)), max_leaves=4)  # fmt: skip


def mostly_valid(valid: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Valid values, and arbitrary text now and then."""
    return st.one_of(*(valid,) * 40, TEXT)


def mostly_valid_keys(valid: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Keys, mostly valid ones. YAML readers differ where a key has a line separator: ours refuses it, as PyYAML."""
    return mostly_valid(valid).filter(lambda key: not any(separator in key for separator in "\x85\u2028\u2029"))


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Mappings with any of these optional fields."""
    return st.fixed_dictionaries({}, optional=fields)


def subset(most: int, fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Mappings with at most `most` of many fields: with all of them nearly every example would contradict itself."""
    names = st.lists(st.sampled_from(sorted(fields)), max_size=most, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: fields[name] for name in sorted(chosen)}))


def with_required(strategy: st.SearchStrategy[dict[str, Any]], **fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Mappings of a strategy, with required fields added."""
    return strategy.map(lambda drawn: {**fields, **drawn})


def nullable(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of a strategy, and null now and then, which removes the default."""
    return st.one_of(strategy, strategy, strategy, st.none())


OBJECT = mostly_valid(st.one_of(YAML_LOOKALIKES, st.from_regex(r"[a-z0-9]{1,3}([-.][a-z0-9]{1,3})?", fullmatch=True)))
OBJECT_OR_EMPTY = st.one_of(st.just(""), OBJECT)
LABEL_VALUE = mostly_valid(
    st.one_of(
        YAML_LOOKALIKES,
        st.sampled_from(("", "a" * 63, "B_c.d-E", "true", "1.0")),
        st.from_regex(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,6}[A-Za-z0-9])?", fullmatch=True),
    )
)
LABELS = st.dictionaries(KEY, LABEL_VALUE, max_size=2)
IMAGE = mostly_valid(st.sampled_from(("trainer", "registry.example.com/team/trainer", "localhost:5000/a/b_c", "123")))
SIZE = st.from_regex(r"[1-9][0-9]{0,2}(Ki|Mi|Gi|k|M)?", fullmatch=True)
AMOUNT = mostly_valid(
    st.one_of(
        SIZE,
        st.sampled_from(("500m", "1.5", "0.5", ".5", "1e3", "12E6", "0", "100u", "1.5Gi", "2T", "010", "1.050")),
        st.integers(0, 99),
        st.floats(0, 99),
    )
)
LIMITS = st.one_of(
    st.dictionaries(st.sampled_from(("cpu", "memory", "ephemeral-storage")), AMOUNT, max_size=2),
    st.dictionaries(st.sampled_from(("nvidia.com/gpu", "rdma/hca")), mostly_valid(st.integers(0, 9)), max_size=2),
)
RESOURCES = optional(limits=nullable(LIMITS), requests=nullable(LIMITS))
PATH = st.one_of(st.sampled_from(("/checkpoints", "/mnt/a b", "/x/yes")), TEXT.map(lambda text: f"/x{text}"))
PORT = st.one_of(st.integers(1, 65535), st.integers(8000, 8001))
COMMAND = st.lists(TEXT, min_size=1, max_size=2)
SCALARS = st.lists(SCALAR, max_size=3)

LEVEL = st.sampled_from(("", "example.com/rack", "kubernetes.io/hostname"))
NODE_NAMES = st.lists(st.sampled_from(("node-a", "node-b", "node-c")), max_size=2, unique=True)
SPREAD = st.fixed_dictionaries(
    {
        "maxSkew": COUNT,
        "topologyKey": mostly_valid(st.sampled_from(("example.com/rack", "zone"))),
        "whenUnsatisfiable": st.sampled_from(("DoNotSchedule", "ScheduleAnyway")),
    },
    optional={
        "labelSelector": optional(matchLabels=LABELS),
        "minDomains": COUNT,
        "nodeTaintsPolicy": st.sampled_from(("Honor", "Ignore")),
    },
)
TOLERATION = st.one_of(
    optional(key=mostly_valid(KEY), value=LABEL_VALUE, effect=st.sampled_from(("NoSchedule", "NoExecute"))),
    with_required(optional(key=KEY, effect=st.just("NoSchedule")), operator="Exists"),
    with_required(optional(tolerationSeconds=COUNT), operator="Exists", effect="NoExecute"),
)
NODE_TERM = st.fixed_dictionaries({"matchExpressions": st.lists(st.builds(
    lambda key, value: {"key": key, "operator": "In", "values": [value]}, KEY, LABEL_VALUE.filter(str.isalnum)),
    min_size=1, max_size=2)})  # fmt: skip
NODE_AFFINITY = optional(
    requiredDuringSchedulingIgnoredDuringExecution=st.fixed_dictionaries(
        {"nodeSelectorTerms": st.lists(NODE_TERM, min_size=1, max_size=2)}
    ),
    preferredDuringSchedulingIgnoredDuringExecution=st.lists(
        st.fixed_dictionaries({"weight": st.integers(1, 100), "preference": NODE_TERM}), max_size=1
    ),
)
POD_AFFINITY = optional(
    requiredDuringSchedulingIgnoredDuringExecution=st.lists(
        st.builds(lambda labels: {"labelSelector": {"matchLabels": labels}, "topologyKey": "zone"},
                  st.dictionaries(KEY, st.just("x"), max_size=1)), max_size=1
    )
)  # fmt: skip
PLACEMENT = subset(
    4,
    {
        "colocate": optional(level=LEVEL, mode=st.sampled_from(("required", "preferred")), weight=st.integers(1, 100)),
        "nodes": optional(allow=NODE_NAMES, ignore=NODE_NAMES),
        "healthLabels": optional(
            forbidden=st.lists(KEY, max_size=2, unique=True),
            required=st.dictionaries(KEY, st.lists(LABEL_VALUE, min_size=1, max_size=2), max_size=2),
        ),
        "topologySpread": st.lists(SPREAD, max_size=2),
        "runtimeClassName": OBJECT_OR_EMPTY,
        "schedulerName": OBJECT_OR_EMPTY,
        "spread": nullable(st.sampled_from(("auto", "required", "preferred", "none"))),
        "nodeSelector": LABELS,
        "tolerations": st.lists(TOLERATION, max_size=2),
        "affinity": optional(nodeAffinity=NODE_AFFINITY, podAffinity=POD_AFFINITY),
        "priorityClassName": OBJECT_OR_EMPTY,
    },
)
SCHEDULING = subset(
    1,
    {
        "queue": optional(
            name=st.sampled_from(("", "team")),
            check=st.booleans(),
            priorityClassName=st.sampled_from(("", "high")),
            topology=optional(
                mode=st.sampled_from(("none", "required", "preferred", "unconstrained")),
                level=LEVEL,
                sliceLevel=st.sampled_from(("", "example.com/rack")),
                sliceSize=nullable(COUNT),
            ),
        ),
        "gang": optional(
            scheduler=st.sampled_from(("none", "volcano", "scheduler-plugins")),
            schedulerName=st.sampled_from(("", "mine", "yes")),
            queue=st.sampled_from(("", "team")),
            timeoutSeconds=nullable(COUNT),
            minResources=st.dictionaries(st.sampled_from(("cpu", "memory")), AMOUNT, max_size=2),
        ),
    },
)
DEEPSPEED = optional(
    config=st.dictionaries(st.sampled_from(("bf16", "steps_per_print", "odd")), TREE, max_size=2),
    option=st.sampled_from(("--deepspeed_config", "--deepspeed", "")),
    microBatchPerGpu=COUNT,
    gradientAccumulation=COUNT,
    zeroStage=st.integers(0, 3),
    offload=optional(optimizer=st.sampled_from(("none", "cpu", "nvme")), params=st.sampled_from(("none", "cpu"))),
    scratch=optional(mountPath=st.just("/nvme"), volume=st.sampled_from(({}, {"hostPath": {"path": "/mnt"}}))),
)
METRIC = st.just({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization",
    "averageUtilization": 80}}})  # fmt: skip
ELASTIC = optional(
    enabled=st.booleans(),
    minNodes=st.integers(1, 3),
    maxNodes=nullable(st.integers(3, 9)),
    maxRestarts=st.integers(0, 9),
    metrics=st.lists(METRIC, max_size=1),
)
OTHER_KINDS = ("MPIJob", "TFJob", "JAXJob", "PaddleJob", "XGBoostJob")
KIND = st.sampled_from(("PyTorchJob",) * 4 + ("TrainJob",) * 2 + OTHER_KINDS)
MPI = optional(
    apiVersion=st.sampled_from(("kubeflow.org/v2beta1", "kubeflow.org/v1", None)),
    implementation=st.sampled_from(("OpenMPI", "Intel", "MPICH")),
    args=st.lists(SCALAR, max_size=2),
    imageVariables=st.lists(NAME, max_size=2),
    launcher=optional(
        asWorker=st.booleans(),
        creationPolicy=st.sampled_from(("AtStartup", "WaitForWorkersReady")),
        resources=RESOURCES,
    ),
    ssh=optional(port=st.integers(1024, 9999), mountPath=st.just("/home/me/.ssh")),
)
SERVERS = optional(parameterServers=optional(count=st.integers(0, 2), resources=RESOURCES))
ACCESS_MODES = st.sampled_from(
    (["ReadWriteMany"], ["ReadWriteMany", "ReadOnlyMany"], ["ReadWriteOncePod", "ReadWriteMany"])
)
CREATED_CLAIM = optional(size=SIZE, accessModes=ACCESS_MODES, keep=st.booleans(), storageClassName=OBJECT_OR_EMPTY)
FROM_FILES = with_required(
    optional(
        optional=st.booleans(),
        defaultMode=st.integers(0, 511),
        items=st.dictionaries(
            mostly_valid_keys(st.just("a.b_C")), mostly_valid(st.sampled_from(("a", "a/b", "..", "/a"))), max_size=1
        ),
    ),
    name="files",
)
MEDIUM = st.sampled_from(("", "Memory", "HugePages-2Mi"))
SOURCE = st.one_of(
    st.fixed_dictionaries({"claim": OBJECT.filter(bool)}),
    st.fixed_dictionaries({"create": with_required(CREATED_CLAIM, size="1Gi")}),
    st.fixed_dictionaries({"ephemeral": with_required(optional(storageClassName=OBJECT_OR_EMPTY), size="1Gi")}),
    st.fixed_dictionaries({"emptyDir": optional(sizeLimit=SIZE, medium=MEDIUM)}),
    st.fixed_dictionaries({"hostPath": st.sampled_from(("/mnt/data", "/mnt/../data")).map(
        lambda path: {"path": path, "type": "Directory"})}),
    st.fixed_dictionaries({"nfs": st.just({"server": "files.example.com", "path": "/data"})}),
    st.fixed_dictionaries({"configMap": FROM_FILES}),
    st.fixed_dictionaries({"secret": FROM_FILES}),
)  # fmt: skip
VOLUMES = st.dictionaries(
    st.sampled_from(("data", "cache", "0")),
    st.builds(
        lambda source, path, rest: {**source, "mountPath": path, **rest},
        SOURCE,
        st.sampled_from(("/data", "/cache", "/dev/x", "/a b")),
        optional(readOnly=st.booleans(), subPath=st.sampled_from(("", "a/b", "yes", " "))),
    ),
    max_size=2,
)
SECRET = st.just({"secret": "0", "key": "on"})
SOURCES = {
    "http": with_required(optional(token=SECRET), urls=["https://mirror.example.com/a.tar"]),
    "git": with_required(
        optional(ref=st.sampled_from(("v1", "yes")), token=SECRET), url="https://git.example.com/data.git"
    ),
    "s3": with_required(optional(anonymous=st.booleans(), accessKey=SECRET, secretKey=SECRET), url="s3://bucket/data"),
    "huggingFace": with_required(optional(token=SECRET), repository="team/data"),
    "claim": with_required(optional(path=mostly_valid(st.sampled_from(("", "a/b")))), name="source"),
}
DATASET = st.builds(
    lambda source, rest: {"source": source[0], "volume": "data", source[0]: source[1], **rest},
    st.sampled_from(sorted(SOURCES)).flatmap(lambda name: st.tuples(st.just(name), SOURCES[name])),
    optional(
        checksum=optional(files=st.just({"a": "0" * 64})),
        image=st.one_of(st.just(""), IMAGE),
        resources=RESOURCES,
    ),
)
FABRIC = optional(
    profile=st.sampled_from(
        ("none", "onprem-ib", "onprem-roce", "eks-efa", "gke-tcpxo", "gke-gib", "aks-ib", "oke-roce", "coreweave-ib")
    ),
    env=st.dictionaries(NAME, nullable(SCALAR), max_size=2),
    resources=st.dictionaries(mostly_valid_keys(st.just("rdma/hca")), nullable(st.integers(0, 9)), max_size=1),
    networks=nullable(st.lists(st.fixed_dictionaries({"name": st.sampled_from(("rail", "0"))}), max_size=2)),
    rails=nullable(st.integers(1, 3)),
    capabilities=nullable(st.lists(st.sampled_from(("IPC_LOCK", "SYS_ADMIN")), max_size=2, unique=True)),
    hostNetwork=st.booleans(),
    mounts=nullable(
        st.lists(st.builds(lambda path: {"name": "lib", "hostPath": path, "mountPath": "/lib64"},
                           st.sampled_from(("/opt", "/opt/../lib"))), max_size=1)
    ),
    topologyFile=optional(configMap=OBJECT_OR_EMPTY),
)  # fmt: skip
CLAIM = st.one_of(
    st.builds(lambda name, other: {"name": name, "resourceClaimName": other}, OBJECT.filter(bool), OBJECT.filter(bool)),
    st.just({"name": "gpu", "resourceClaimTemplateName": "gpus", "request": "one"}),
)
PEERS = st.lists(
    subset(
        2,
        {
            "podLabels": LABELS,
            "namespaceLabels": LABELS,
            "cidr": st.sampled_from(("10.0.0.0/8", "10.0.0.1/8", "300.0.0.0/8", "fd00::/8", "10.0.0.0/33")),
            "ports": st.lists(st.one_of(PORT, st.sampled_from(("metrics", "a-b", "0"))), max_size=2),
        },
    ),
    max_size=2,
)
SECURITY = optional(
    runAsUser=nullable(st.sampled_from((0, 1000, 1_000_000))),
    runAsNonRoot=nullable(st.booleans()),
    seccompProfile=nullable(
        st.sampled_from(({"type": "Unconfined"}, {"type": "Localhost"}, {"type": "Localhost", "localhostProfile": "a"}))
    ),
)
POD_SECURITY = st.builds(
    lambda one, other: {**one, **other},
    SECURITY,
    optional(
        fsGroup=nullable(COUNT),
        supplementalGroups=st.lists(COUNT, max_size=2),
        fsGroupChangePolicy=st.just("Always"),
        sysctls=st.just([{"name": "net.core.somaxconn", "value": "1"}]),
    ),
)
CONTAINER_SECURITY = st.builds(
    lambda one, other: {**one, **other},
    SECURITY,
    optional(
        privileged=st.booleans(),
        allowPrivilegeEscalation=nullable(st.booleans()),
        capabilities=nullable(
            optional(add=st.lists(st.sampled_from(("IPC_LOCK", "SYS_ADMIN", "NET_RAW")), max_size=2))
        ),
    ),
)
RUN_POLICY = optional(
    restartsPerNode=nullable(st.integers(0, 9)),
    cleanPodPolicy=nullable(st.sampled_from(("None", "Running", "All"))),
    activeDeadlineSeconds=nullable(COUNT),
    ttlSecondsAfterFinished=nullable(COUNT),
    suspend=nullable(st.booleans()),
    backoffLimit=nullable(COUNT),
    managedBy=nullable(st.sampled_from(("kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue"))),
)
FIELD = st.just({"valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}})
CONTAINER = with_required(
    optional(
        image=IMAGE.filter(bool),
        command=COMMAND,
        volumeMounts=st.just([{"name": "tmp", "mountPath": "/tmp"}]),  # noqa: S108 - a path in the container
    ),
    name="tools",
)
POD_TEMPLATE = optional(
    metadata=optional(labels=LABELS),
    spec=optional(
        hostIPC=st.booleans(),
        terminationGracePeriodSeconds=nullable(COUNT),
        containers=st.lists(
            with_required(optional(image=IMAGE.filter(bool), tty=st.booleans()), name="pytorch"), max_size=1
        ),
        volumes=st.just([{"name": "tmp", "emptyDir": {"medium": "Memory"}}]),
    ),
)
MANIFEST = st.sampled_from(
    (
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "{{ .Release.Name }}-own"}, "data": {"a": "1"}},
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-text}\n",
    )
)
PARTS: dict[str, st.SearchStrategy[Any]] = {
    "kind": KIND,
    "mpi": MPI,
    "tensorflow": SERVERS,
    "paddle": SERVERS,
    "volumes": VOLUMES,
    "scratch": optional(
        enabled=st.booleans(),
        source=st.sampled_from(("emptyDir", "ephemeral")),
        size=SIZE,
        medium=st.sampled_from(("", "Memory")),
        storageClassName=OBJECT_OR_EMPTY,
    ),
    "dataset": DATASET,
    "fabric": FABRIC,
    "resourceClaims": st.lists(CLAIM, max_size=2),
    "nccl": st.dictionaries(
        st.sampled_from(("NCCL_DEBUG", "NCCL_IB_TC", "TORCH_NCCL_BLOCKING_WAIT")), st.just("1"), max_size=2
    ),
    "image": optional(
        repository=IMAGE.filter(bool),
        tag=nullable(LABEL_VALUE),
        digest=nullable(st.sampled_from(("", "sha256:" + "0" * 64))),
        pullPolicy=nullable(st.sampled_from(("Always", "IfNotPresent", "Never"))),
        pullSecrets=st.lists(OBJECT, max_size=2),
    ),
    "nodes": COUNT,
    "processesPerNode": nullable(st.one_of(COUNT, st.sampled_from(("auto", "gpu", "cpu")))),
    "layout": st.sampled_from(("auto", "master-worker", "worker-only")),
    "launcher": st.sampled_from(("torchrun", "torchrun", "accelerate", "deepspeed", "command")),
    "train": optional(
        module=nullable(TEXT), script=TEXT, args=nullable(st.lists(SCALAR, max_size=4)), command=nullable(COMMAND)
    ),
    "accelerate": optional(
        command=COMMAND,
        args=SCALARS,
        config=st.dictionaries(st.sampled_from(("distributed_type", "use_cpu", "odd")), TREE, max_size=2),
    ),
    "deepspeed": DEEPSPEED,
    "elastic": ELASTIC,
    "scheduling": SCHEDULING,
    "torchrun": optional(command=COMMAND, args=SCALARS, port=nullable(PORT), timeoutSeconds=nullable(COUNT)),
    "resources": RESOURCES,
    "env": st.dictionaries(NAME, st.one_of(SCALAR, SCALAR, FIELD), max_size=4),
    "envSecrets": st.dictionaries(
        mostly_valid_keys(NAME),
        st.fixed_dictionaries({"secret": OBJECT.filter(bool), "key": mostly_valid(NAME).filter(bool)}),
        max_size=2,
    ),
    "sharedMemory": optional(enabled=nullable(st.booleans()), size=nullable(SIZE)),
    "temporaryStorage": optional(size=nullable(SIZE)),
    "checkpoints": optional(
        enabled=st.booleans(),
        mountPath=PATH,
        subPath=st.sampled_from(("", "a/b", "../a")),
        existingClaim=OBJECT_OR_EMPTY,
        storageClassName=nullable(OBJECT_OR_EMPTY),
        accessModes=st.lists(
            st.sampled_from(("ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")), min_size=1, max_size=2
        ),
        size=SIZE,
        keep=nullable(st.booleans()),
    ),
    "placement": PLACEMENT,
    "restartPolicy": st.sampled_from(("OnFailure", "Never", "ExitCode", "Always")),
    "runPolicy": RUN_POLICY,
    "saveSeconds": nullable(st.integers(0, 90)),
    "preStop": optional(command=st.lists(TEXT, max_size=2), seconds=st.integers(0, 90)),
    "terminationGracePeriodSeconds": nullable(st.one_of(COUNT, st.just(0))),
    "podSecurityContext": POD_SECURITY,
    "securityContext": CONTAINER_SECURITY,
    "envFrom": optional(configMaps=st.lists(OBJECT, max_size=2), secrets=st.lists(OBJECT, max_size=2)),
    "serviceAccount": optional(
        create=st.booleans(),
        name=OBJECT_OR_EMPTY,
        annotations=st.dictionaries(mostly_valid_keys(KEY), TEXT, max_size=2),
    ),
    "networkPolicy": optional(
        enabled=st.booleans(),
        allow=PEERS,
        egress=optional(enabled=st.booleans(), allow=PEERS, dnsPorts=st.lists(PORT, min_size=1, max_size=2)),
    ),
    "multiNetworkPolicy": optional(networks=st.lists(st.sampled_from(("rail", "nets/rail", "0")), max_size=2)),
    "metrics": optional(
        enabled=st.booleans(),
        port=PORT,
        monitor=st.sampled_from(("none", "ServiceMonitor", "PodMonitor")),
        labels=LABELS,
    ),
    "tensorboard": optional(
        enabled=st.booleans(),
        image=nullable(IMAGE),
        command=COMMAND,
        logdir=TEXT,
        port=PORT,
        service=st.booleans(),
        resources=optional(limits=LIMITS),
    ),
    "flightRecorder": optional(enabled=st.booleans(), mountPath=PATH, existingClaim=OBJECT_OR_EMPTY, entries=COUNT),
    "preflight": optional(
        enabled=st.booleans(), minBusBandwidth=st.one_of(st.integers(0, 9), st.floats(0, 1e7)), maxMebibytes=COUNT
    ),
    "podLabels": st.dictionaries(mostly_valid_keys(KEY), LABEL_VALUE, max_size=2),
    "podAnnotations": st.dictionaries(mostly_valid_keys(KEY), TEXT, max_size=2),
    "jobLabels": st.dictionaries(mostly_valid_keys(KEY), LABEL_VALUE, max_size=2),
    "jobAnnotations": st.dictionaries(mostly_valid_keys(KEY), TEXT, max_size=2),
    "initContainers": st.lists(CONTAINER, max_size=2),
    "sidecars": st.lists(CONTAINER, max_size=1),
    "podTemplate": POD_TEMPLATE,
    "extraObjects": st.lists(MANIFEST, max_size=1),
    "nameOverride": st.sampled_from(("", "b", "0")),
    "fullnameOverride": st.sampled_from(("", "a", "a-0")),
}
# A part is refused without these values, whatever else it holds.
REQUIREMENTS: dict[str, dict[str, Any]] = {
    "accelerate": {"launcher": "accelerate"},
    "deepspeed": {"launcher": "deepspeed"},
    "dataset": {"volumes": {"data": {"claim": "data", "mountPath": "/data"}}},
    "fabric": {"resources": {"limits": {"nvidia.com/gpu": 8}}},
    "kind": {"train": {"script": "train.py"}},
    "mpi": {"kind": "MPIJob", "train": {"script": "train.py"}},
    "tensorflow": {"kind": "TFJob", "train": {"script": "train.py"}},
    "paddle": {"kind": "PaddleJob", "train": {"script": "train.py"}},
}


def with_requirements(drawn: dict[str, Any]) -> dict[str, Any]:
    """Return the values with the requirements of their parts added, unless the values set them."""
    for part, needed in REQUIREMENTS.items():
        drawn = {**needed, **drawn} if part in drawn else drawn
    return drawn


VALUES = subset(6, PARTS).map(with_requirements)
MAPPING = st.dictionaries(KEY, TREE, max_size=2)
ARBITRARY_VALUES = st.builds(
    lambda drawn, free: {**drawn, **free},
    VALUES,
    subset(
        2,
        {
            "podSecurityContext": MAPPING,
            "securityContext": MAPPING,
            "resources": optional(limits=st.dictionaries(KEY, SCALAR, max_size=2)),
            "podLabels": st.dictionaries(KEY, TEXT, max_size=2),
            "placement": optional(
                affinity=st.dictionaries(
                    st.sampled_from(("nodeAffinity", "podAffinity", "podAntiAffinity")), TREE, max_size=2
                ),
                nodeSelector=st.dictionaries(KEY, TEXT, max_size=2),
            ),
        },
    ),
)
