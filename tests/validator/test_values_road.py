"""Two roads, one model: what the validator makes of values is what Helm renders from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from tests.charts import helm
from validator.facts.served_apis import SERVED_APIS
from validator.model import Project
from validator.reading import read
from validator.roads import compare, schema, values
from validator.roads.manifest import project
from validator.source import Source

CHART = helm.CHARTS["training-job"]
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
RELEASE = helm.RELEASE
# A test is no run, and a cluster for training serves more than Kubernetes does.
AS_THE_ROAD = ("--no-hooks", "--api-versions", ",".join(SERVED_APIS))


def by_values(text: str) -> tuple[Project, tuple[schema.Fault, ...]]:
    """The project of a values file, without Helm, and what is wrong with the values."""
    documents, broken = read(Source("run.yaml", text))
    assert not broken
    made = values.documents(documents, RELEASE)
    file = made[len(documents) - 1]
    assert isinstance(file, values.ValuesDocument)
    return project(made), file.faults()


def by_manifests(text: str) -> Project:
    """The project of what Helm has rendered."""
    documents, broken = read(Source("rendered.yaml", text))
    assert not broken
    return project(documents)


@pytest.mark.parametrize("scenario", sorted(CHART.glob("ci/*-values.yaml")), ids=lambda path: path.name)
def test_both_roads_lead_to_one_model_of_every_scenario(scenario: Path) -> None:
    ours, faults = by_values(scenario.read_text())
    assert faults == ()
    rendered = helm.template("helm", CHART, *AS_THE_ROAD, scenario=scenario.name)
    assert compare.differences(ours, by_manifests(rendered.stdout)) == []


# Text that templates, YAML or a shell could take for something else, and that must arrive as it is.
ODD = (
    "", " ", " leading", "trailing ", "it's", '"quoted"', "{{ .Values.nodes }}", "$HOME", "$(HOME)", "$$", "a: b",
    "a #b", "- a", "yes", "null", "~", "0x1f", "010", "1e3", "1_000", "two\nlines", "a\n\n  b\n", "\n", "tab\there",
    "\\n", "%TAG", "*a", "&a", "!a", "@a", "`a`", "[a, b]", "{a: b}", "|", ">", "é", "日本", "'", '"',
    "\u2028", "\u200b", "\U0001f525",
)  # fmt: skip
# No control characters: YAML has no place for most of them, so Helm's own output would be unreadable.
LETTERS = st.one_of(
    st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co"), exclude_characters="\ufeff"), st.sampled_from("\n\t")
)
TEXT = st.one_of(st.sampled_from(ODD), st.text(LETTERS, max_size=12))
# Where a template writes without quotes, YAML reads some names as numbers or booleans: both roads must.
BARE = st.one_of(
    st.from_regex(r"[a-z]([-a-z0-9.]{0,8}[a-z0-9])?", fullmatch=True),
    st.sampled_from(("yes", "1", "0x10", "1e3", "null", "a b", "x #y", "'q'", "a: b", "[x]", "*a", "@a", "-", "a:")),
)
NUMBER = st.one_of(
    st.integers(-10, 100), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False), st.just(2.0)
)
COUNT = st.one_of(st.integers(1, 9), st.sampled_from((999_999, 1_000_000, 12_345_678)))
WORD = st.one_of(TEXT, NUMBER, st.booleans())
QUANTITY = st.from_regex(r"[1-9][0-9]{0,2}(Ki|Mi|Gi|k|M)?", fullmatch=True)
NAME = st.from_regex(r"[A-Z_][A-Z0-9_]{0,6}", fullmatch=True)
LABEL = st.from_regex(r"[a-z]{1,4}(\.io/[a-z]{1,3})?", fullmatch=True)
TREE = st.recursive(st.one_of(TEXT, NUMBER, st.booleans(), st.none()), lambda inner: st.one_of(
    st.lists(inner, max_size=2), st.dictionaries(LABEL, inner, max_size=2)), max_leaves=4)  # fmt: skip


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping with any of the fields."""
    return st.fixed_dictionaries({}, optional=fields)


def or_null(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Null now and then: it takes the default away."""
    return st.one_of(strategy, strategy, strategy, st.none())


# Most draws leave these parts alone: with all of them at once nearly every draw contradicts itself and is refused.
def seldom(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An empty mapping more often than not, which changes nothing."""
    return st.one_of(st.just({}), st.just({}), strategy)


def both_fields(
    strategy: st.SearchStrategy[dict[str, Any]], fields: dict[str, Any]
) -> st.SearchStrategy[dict[str, Any]]:
    """The mapping with fields that it always has."""
    return strategy.map(lambda drawn: {**fields, **drawn})


LEVEL = st.sampled_from(("", "example.com/rack", "kubernetes.io/hostname"))
NODE_NAMES = st.lists(st.sampled_from(("node-a", "node-b", "node-c")), max_size=2, unique=True)
SPREAD = st.fixed_dictionaries(
    {
        "maxSkew": COUNT,
        "topologyKey": st.sampled_from(("example.com/rack", "zone")),
        "whenUnsatisfiable": st.sampled_from(("DoNotSchedule", "ScheduleAnyway")),
    },
    optional={"labelSelector": st.just({"matchLabels": {"a": "b"}})},
)
SCHEDULING = some(
    queue=seldom(
        some(
            name=st.sampled_from(("", "team")),
            priorityClassName=st.sampled_from(("", "high")),
            topology=some(
                mode=st.sampled_from(("none", "required", "preferred", "unconstrained")),
                level=LEVEL,
                sliceLevel=st.sampled_from(("", "example.com/rack")),
                sliceSize=or_null(COUNT),
            ),
        )
    ),
    gang=seldom(
        some(
            scheduler=st.sampled_from(("none", "volcano", "scheduler-plugins")),
            schedulerName=st.sampled_from(("", "mine", "yes")),
            queue=st.sampled_from(("", "team")),
            timeoutSeconds=or_null(COUNT),
            minResources=st.dictionaries(st.sampled_from(("cpu", "memory")), st.one_of(TEXT, NUMBER), max_size=2),
        )
    ),
)
PLACEMENT = some(
    colocate=seldom(some(level=LEVEL, mode=st.sampled_from(("required", "preferred")), weight=st.integers(1, 100))),
    nodes=seldom(some(allow=NODE_NAMES, ignore=NODE_NAMES)),
    healthLabels=seldom(
        some(
            forbidden=st.lists(LABEL, max_size=2, unique=True),
            required=st.dictionaries(LABEL, st.lists(TEXT, min_size=1, max_size=2), max_size=2),
        )
    ),
    topologySpread=st.lists(SPREAD, max_size=2),
    runtimeClassName=st.one_of(st.just(""), BARE),
    schedulerName=st.one_of(st.just(""), BARE),
)
DEEPSPEED = some(
    config=st.dictionaries(st.sampled_from(("bf16", "steps_per_print", "odd")), TREE, max_size=2),
    option=st.sampled_from(("--deepspeed_config", "--deepspeed", "")),
    microBatchPerGpu=COUNT,
    gradientAccumulation=COUNT,
    zeroStage=st.integers(0, 3),
    offload=seldom(some(optimizer=st.sampled_from(("none", "cpu", "nvme")), params=st.sampled_from(("none", "cpu")))),
    scratch=some(mountPath=st.just("/nvme"), volume=st.sampled_from(({}, {"hostPath": {"path": "/mnt"}}))),
)
ELASTIC = some(
    enabled=st.booleans(),
    minNodes=st.integers(1, 3),
    maxNodes=or_null(st.integers(3, 9)),
    maxRestarts=st.integers(0, 9),
)


OTHER_KINDS = ("MPIJob", "TFJob", "JAXJob", "PaddleJob", "XGBoostJob")
KIND = st.sampled_from(("PyTorchJob",) * 4 + ("TrainJob",) * 2 + OTHER_KINDS)
MPI = some(
    apiVersion=st.sampled_from(("kubeflow.org/v2beta1", "kubeflow.org/v1")),
    implementation=st.sampled_from(("OpenMPI", "Intel", "MPICH")),
    args=st.lists(WORD, max_size=2),
    imageVariables=st.lists(NAME, max_size=2),
    launcher=some(asWorker=st.booleans(), creationPolicy=st.sampled_from(("AtStartup", "WaitForWorkersReady"))),
    ssh=some(port=st.integers(1024, 9999), mountPath=st.just("/home/me/.ssh")),
)
SERVERS = some(parameterServers=some(count=st.integers(0, 2)))
CREATED = some(
    size=QUANTITY, accessModes=st.just(["ReadWriteMany"]), keep=st.booleans(), storageClassName=st.just("yes")
)
SOURCE = st.one_of(
    st.fixed_dictionaries({"claim": st.sampled_from(("data", "0x10"))}),
    st.fixed_dictionaries({"create": both_fields(CREATED, {"size": "1Gi"})}),
    st.fixed_dictionaries({"emptyDir": some(sizeLimit=QUANTITY)}),
    st.fixed_dictionaries({"hostPath": st.just({"path": "/mnt/data", "type": "Directory"})}),
    st.fixed_dictionaries({"nfs": st.just({"server": "files.example.com", "path": "/data"})}),
)
VOLUMES = st.dictionaries(
    st.sampled_from(("data", "cache", "tmp")),
    st.builds(
        lambda source, path, rest: {**source, "mountPath": path, **rest},
        SOURCE,
        st.sampled_from(("/data", "/cache", "/dev/x")),
        some(readOnly=st.booleans(), subPath=st.sampled_from(("", "a/b"))),
    ),
    max_size=2,
)
KEY = st.just({"secret": "0", "key": "on"})
DATASET = st.builds(
    lambda source, rest: {"source": source, "volume": "data", **rest},
    st.sampled_from(("http", "git", "s3", "huggingFace", "claim")),
    some(
        http=some(urls=st.just(["https://mirror.example.com/a.tar"]), token=KEY),
        git=some(url=st.just("https://git.example.com/data.git"), ref=st.sampled_from(("v1", "yes")), token=KEY),
        s3=some(url=st.just("s3://bucket/data"), anonymous=st.booleans(), accessKey=KEY, secretKey=KEY),
        huggingFace=some(repository=st.just("team/data"), token=KEY),
        claim=some(name=st.just("source"), path=TEXT),
        checksum=some(files=st.just({"a": "0" * 64})),
    ),
)
FABRIC = some(
    profile=st.sampled_from(
        ("none", "onprem-ib", "onprem-roce", "eks-efa", "gke-tcpxo", "gke-gib", "aks-ib", "oke-roce", "coreweave-ib")
    ),
    env=st.dictionaries(NAME, or_null(WORD), max_size=2),
    resources=st.dictionaries(st.just("rdma/hca"), or_null(st.integers(0, 9)), max_size=1),
    networks=or_null(st.lists(st.fixed_dictionaries({"name": st.sampled_from(("rail", "0"))}), max_size=2)),
    rails=or_null(st.integers(1, 3)),
    capabilities=or_null(st.lists(st.sampled_from(("IPC_LOCK", "NET_RAW")), max_size=2, unique=True)),
    hostNetwork=st.booleans(),
    topologyFile=some(configMap=st.sampled_from(("", "topology"))),
)
ALLOWED = st.fixed_dictionaries(
    {"podLabels": st.dictionaries(LABEL, st.just("x"), max_size=1)},
    optional={"ports": st.lists(st.one_of(st.integers(1, 9), st.just("metrics")), max_size=2)},
)
WATCHED = some(
    serviceAccount=some(
        create=st.booleans(), name=st.sampled_from(("", "0")), annotations=st.dictionaries(LABEL, TEXT)
    ),
    envFrom=some(configMaps=st.lists(BARE, max_size=1), secrets=st.lists(BARE, max_size=1)),
    networkPolicy=some(
        enabled=st.booleans(),
        allow=st.lists(ALLOWED, max_size=2),
        egress=some(enabled=st.booleans(), allow=st.lists(ALLOWED, max_size=1)),
    ),
    multiNetworkPolicy=some(networks=st.lists(st.sampled_from(("rail", "nets/rail")), max_size=2)),
    metrics=some(enabled=st.booleans(), port=st.integers(1, 65535)),
    tensorboard=seldom(some(enabled=st.booleans(), image=st.just("tb"), logdir=st.just("/checkpoints/tb"))),
    flightRecorder=seldom(some(enabled=st.booleans(), existingClaim=st.sampled_from(("", "0")))),
    preflight=seldom(some(enabled=st.booleans(), minBusBandwidth=st.one_of(st.integers(0, 9), st.just(0.5)))),
)


def both(one: st.SearchStrategy[Any], other: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The fields of two mappings."""
    return st.builds(lambda first, second: {**first, **second}, one, other)


RESOURCE = st.sampled_from(("cpu", "memory", "nvidia.com/gpu", "rdma/hca"))
LIMITS = st.dictionaries(RESOURCE, st.one_of(TEXT, NUMBER), max_size=3)
PORT = st.one_of(st.integers(1, 65535), st.integers(8000, 8001))
LABELS = st.dictionaries(LABEL, TEXT, max_size=1)
REACHED = st.lists(some(podLabels=LABELS, cidr=st.just("10.0.0.0/8"), namespaceLabels=LABELS,
    ports=st.lists(PORT, max_size=2)), max_size=2)  # fmt: skip
VALUES = both(
    WATCHED,
    some(
        kind=KIND,
        mpi=seldom(MPI),
        tensorflow=seldom(SERVERS),
        paddle=seldom(SERVERS),
        volumes=seldom(VOLUMES),
        scratch=seldom(some(enabled=st.booleans(), source=st.sampled_from(("emptyDir", "ephemeral")), size=QUANTITY)),
        dataset=seldom(DATASET),
        fabric=seldom(FABRIC),
        nccl=st.dictionaries(
            st.sampled_from(("NCCL_DEBUG", "NCCL_IB_TC", "TORCH_NCCL_BLOCKING_WAIT")), st.just("1"), max_size=2
        ),
        image=some(
            repository=TEXT.filter(bool),
            tag=or_null(TEXT),
            digest=or_null(st.sampled_from(("", "sha256:" + "0" * 64))),
            pullPolicy=or_null(st.sampled_from(("Always", "IfNotPresent", "Never"))),
            pullSecrets=st.lists(BARE, max_size=2),
        ),
        nodes=COUNT,
        processesPerNode=st.one_of(COUNT, st.sampled_from(("auto", "gpu", "cpu"))),
        layout=st.sampled_from(("master-worker", "worker-only")),
        launcher=st.sampled_from(("torchrun", "torchrun", "accelerate", "deepspeed", "command")),
        train=some(
            module=or_null(TEXT),
            script=TEXT,
            args=st.lists(WORD, max_size=4),
            command=st.lists(TEXT, min_size=1, max_size=2),
        ),
        accelerate=some(
            command=st.lists(TEXT, min_size=1, max_size=2),
            args=st.lists(WORD, max_size=2),
            config=st.dictionaries(st.sampled_from(("distributed_type", "use_cpu", "odd")), TREE, max_size=2),
        ),
        deepspeed=DEEPSPEED,
        elastic=seldom(ELASTIC),
        scheduling=SCHEDULING,
        torchrun=some(
            command=st.lists(TEXT, min_size=1, max_size=3),
            args=st.lists(WORD, max_size=2),
            port=or_null(st.integers(1, 65535)),
            timeoutSeconds=or_null(COUNT),
        ),
        resources=some(limits=or_null(LIMITS), requests=or_null(LIMITS)),
        env=st.dictionaries(NAME, WORD, max_size=4),
        envSecrets=st.dictionaries(
            st.one_of(NAME, BARE), st.fixed_dictionaries({"secret": BARE, "key": BARE}), max_size=2
        ),
        sharedMemory=some(enabled=or_null(st.booleans()), size=or_null(QUANTITY)),
        temporaryStorage=some(size=or_null(QUANTITY)),
        checkpoints=some(
            enabled=st.booleans(),
            mountPath=TEXT.map(lambda text: f"/x{text}"),
            existingClaim=st.one_of(st.just(""), BARE),
            storageClassName=or_null(st.one_of(st.just(""), BARE)),
            accessModes=st.lists(st.sampled_from(("ReadWriteMany", "ReadWriteOnce")), min_size=1, max_size=2),
            size=QUANTITY,
            keep=or_null(st.booleans()),
        ),
        placement=both(
            PLACEMENT,
            some(
                spread=or_null(st.sampled_from(("required", "preferred", "none"))),
                nodeSelector=st.dictionaries(LABEL, TEXT, max_size=2),
                tolerations=st.lists(some(key=TEXT, operator=st.just("Exists"), tolerationSeconds=COUNT), max_size=2),
                affinity=st.dictionaries(
                    st.sampled_from(("nodeAffinity", "podAffinity", "podAntiAffinity")), TREE, max_size=2
                ),
                priorityClassName=st.one_of(st.just(""), BARE),
            ),
        ),
        restartPolicy=st.sampled_from(("OnFailure", "Never", "ExitCode", "Always")),
        runPolicy=some(
            restartsPerNode=or_null(st.integers(0, 9)),
            cleanPodPolicy=or_null(st.sampled_from(("None", "Running", "All"))),
            activeDeadlineSeconds=or_null(COUNT),
            ttlSecondsAfterFinished=or_null(COUNT),
            suspend=or_null(st.booleans()),
            backoffLimit=or_null(COUNT),
            managedBy=or_null(st.sampled_from(("kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue"))),
        ),
        saveSeconds=or_null(st.integers(0, 90)),
        preStop=seldom(some(command=st.lists(TEXT, max_size=2), seconds=st.integers(0, 30))),
        terminationGracePeriodSeconds=or_null(COUNT),
        podSecurityContext=st.one_of(TREE.filter(lambda tree: isinstance(tree, dict)), some(fsGroup=or_null(COUNT))),
        securityContext=some(privileged=st.booleans(), capabilities=or_null(some(add=st.lists(TEXT, max_size=2)))),
        envFrom=some(configMaps=st.lists(BARE, max_size=2), secrets=st.lists(BARE, max_size=2)),
        serviceAccount=some(create=st.booleans(), name=BARE, annotations=st.dictionaries(LABEL, TEXT, max_size=1)),
        networkPolicy=some(enabled=st.booleans(), allow=REACHED, egress=some(enabled=st.booleans(), allow=REACHED)),
        multiNetworkPolicy=some(networks=st.lists(BARE, max_size=2)),
        metrics=some(
            enabled=st.booleans(), port=PORT, monitor=st.sampled_from(("none", "ServiceMonitor", "PodMonitor"))
        ),
        tensorboard=some(
            enabled=st.booleans(),
            image=or_null(TEXT),
            command=st.lists(TEXT, min_size=1, max_size=2),
            logdir=TEXT,
            port=PORT,
        ),
        flightRecorder=some(enabled=st.booleans(), mountPath=TEXT.map(lambda text: f"/x{text}"), entries=COUNT),
        preflight=some(enabled=st.booleans(), minBusBandwidth=st.floats(0, 1e7), maxMebibytes=COUNT),
        podLabels=st.dictionaries(LABEL, TEXT, max_size=2),
        podAnnotations=st.dictionaries(LABEL, TEXT, max_size=2),
    ),
)


# A render takes a tenth of a second: the examples are few, and a failure, which names the fields, is not made smaller.
@settings(max_examples=60, phases=(Phase.explicit, Phase.generate), suppress_health_check=[HealthCheck.too_slow])
@given(VALUES)
def test_both_roads_lead_to_one_model_of_any_values(drawn: dict[str, Any]) -> None:
    ours, faults = by_values(json.dumps(drawn, ensure_ascii=False))
    rendered = helm.template("helm", CHART, *AS_THE_ROAD, values=drawn)
    assert bool(faults) == bool(rendered.returncode), faults or rendered.stderr
    event("refused" if faults else "rendered")
    if not faults:
        assert compare.differences(ours, by_manifests(rendered.stdout)) == []


def leaves(tree: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Paths of all nodes of a tree but its root."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [found for key, item in items for found in ((*path, key), *leaves(item, (*path, key)))]


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES, st.data())
def test_the_schema_refuses_here_what_it_refuses_for_helm(drawn: dict[str, Any], data: st.DataObject) -> None:
    paths = leaves(drawn)
    if paths:
        *parents, last = data.draw(st.sampled_from(paths))
        node: Any = drawn
        for step in parents:
            node = node[step]
        node[last] = data.draw(st.one_of(TREE, NUMBER, TEXT))
    by_values(json.dumps(drawn, ensure_ascii=False))
    valid = jsonschema.Draft7Validator(SCHEMA).is_valid(drawn)
    assert (next(schema.faults(SCHEMA, drawn), None) is None) == valid


def keywords(part: Any) -> set[str]:
    """The keywords of a schema, at any depth."""
    found: set[str] = set(part)
    below = [*part.get("properties", {}).values(), *part.get("patternProperties", {}).values(), *part.get("allOf", ())]
    below += [*part.get("anyOf", ()), part.get("items", {}), part.get("additionalProperties", {})]
    return found.union(*(keywords(inner) for inner in below if inner and isinstance(inner, dict)))


def test_the_schema_has_no_keyword_that_is_not_looked_at() -> None:
    notes = {"$schema", "$comment", "title", "description", "default", "required", "properties", "patternProperties"}
    assert keywords(SCHEMA) - notes <= schema.KEYWORDS
