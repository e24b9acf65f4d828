"""A file is checked up to its budget of objects, roles and containers, and the place where it ends is said."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from trainyard.document import budget
from trainyard.document.budget import MOST_PARTS, PARTS_OF_AN_OBJECT
from trainyard.document.document import Document
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.engine.subjects import Reading
from trainyard.linting import pipeline

MOST_OBJECTS = MOST_PARTS // PARTS_OF_AN_OBJECT
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: llm}\nspec:\n  containers:\n"
JOB = "apiVersion: %s\nkind: %s\nmetadata: {name: llm}\nspec:\n  %s:\n"
# Of each: the beginning of an object, one of its parts, and how many parts of the budget that is.
REPEATED = {
    "containers": (POD, "  - {name: a%d}\n", 1),
    "containers with a command": (POD, "  - {name: a%d, command: [bash, -c, a]}\n", 2),
    "containers for the beginning": (POD.replace("containers", "initContainers"), "  - {name: a%d}\n", 1),
    "roles of Kubeflow": (JOB % ("kubeflow.org/v1", "PyTorchJob", "pytorchReplicaSpecs"), "    W%d: {}\n", 1),
    "roles of a JobSet": (JOB % ("jobset.x-k8s.io/v1alpha2", "JobSet", "replicatedJobs"), "  - {name: a%d}\n", 1),
    "groups of Ray": (JOB % ("ray.io/v1", "RayCluster", "workerGroupSpecs"), "  - {groupName: a%d}\n", 1),
    "tasks of Volcano": (JOB % ("batch.volcano.sh/v1alpha1", "Job", "tasks"), "  - {name: a%d}\n", 1),
    "roles with a container": (
        JOB % ("ray.io/v1", "RayCluster", "workerGroupSpecs"),
        "  - {groupName: a%d, template: {spec: {containers: [{name: a}]}}}\n",
        2,
    ),
    "templates of Argo": (JOB % ("argoproj.io/v1alpha1", "Workflow", "templates"), "  - {name: a%d}\n", 1),
    "objects of an AppWrapper": (
        JOB % ("workload.codeflare.dev/v1beta2", "AppWrapper", "components"),
        "  - {template: {apiVersion: v1, kind: Pod, metadata: {name: a%d}}}\n",
        PARTS_OF_AN_OBJECT,
    ),
    "releases": (
        JOB % ("argoproj.io/v1alpha1", "Application", "sources"),
        "  - {chart: a%d, helm: {values: 'a: 1'}}\n",
        PARTS_OF_AN_OBJECT,
    ),
}


def manifests(count: int) -> str:
    """Return a stream of Pods."""
    return "".join(f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}}}\n" for number in range(count))


def a_list(count: int) -> str:
    """Return a list of Pods, in the plainest notation."""
    items = "".join(f"- kind: Pod\n  apiVersion: v1\n  metadata: {{name: p{number}}}\n" for number in range(count))
    return f"apiVersion: v1\nkind: List\nitems:\n{items}"


def read(text: str) -> Reading:
    """Read a text as the linter does."""
    return pipeline.read_input(File(Source("x.yaml", text)))


def objects(documents: Sequence[Document]) -> list[str]:
    """Return the names of the objects in documents and lists."""
    trees = [one for document in documents for one in document.tree.get("items", [document.tree])]
    return [tree["metadata"]["name"] for tree in trees]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (manifests(MOST_OBJECTS + 1), 4 * MOST_OBJECTS + 2),
        (a_list(MOST_OBJECTS + 1), 3 + 3 * MOST_OBJECTS + 1),
        (manifests(MOST_OBJECTS - 100) + "---\n" + a_list(101), 4 * (MOST_OBJECTS - 100) + 4 + 3 * 100 + 1),
        ("---\n" + a_list(MOST_OBJECTS) + manifests(1), 4 + 3 * MOST_OBJECTS + 2),
    ],
    ids=["documents", "a list", "a list after documents", "a document after a list"],
)
def test_what_a_file_holds_above_its_budget_is_said_and_not_checked(text: str, line: int) -> None:
    known = read(text)
    assert len(objects(known.documents)) == MOST_OBJECTS
    (fault,) = known.broken
    assert fault.line == line
    assert fault.message == (
        "the file has too many objects, roles and containers, and is not checked from here on: put the rest into "
        "another file (a mebibyte may have 10,000; an object counts as 3 of them)"
    )


@pytest.mark.parametrize("name", REPEATED)
def test_each_part_that_is_judged_by_itself_counts(name: str) -> None:
    before, part, counted = REPEATED[name]
    most = (MOST_PARTS - PARTS_OF_AN_OBJECT) // counted - 1
    for count, is_whole in ((most, True), (most + 3, False)):
        text = "---\n" + before + "".join(part % number for number in range(count))
        known = read(text)
        assert (known.broken == (), len(known.documents)) == (is_whole, int(is_whole))


def test_an_object_is_checked_whole_or_not_at_all() -> None:
    large = POD.replace("llm", "large") + "".join(f"  - {{name: a{number}}}\n" for number in range(MOST_PARTS))
    known = read(manifests(2) + "---\n" + large + manifests(2))
    assert objects(known.documents) == ["p0", "p1"]
    assert [fault.line for fault in known.broken] == [10]


@pytest.mark.parametrize(
    "text",
    [
        manifests(MOST_OBJECTS),
        a_list(MOST_OBJECTS),
        manifests(MOST_OBJECTS - 1) + "# " + "x" * 2**20 + "\n" + manifests(MOST_OBJECTS + 1),
    ],
    ids=["documents", "a list", "two mebibytes"],
)
def test_the_budget_of_a_file_is_for_each_mebibyte(text: str) -> None:
    known = read(text)
    assert known.broken == ()
    assert len(objects(known.documents)) == MOST_OBJECTS * (1 + len(text) // 2**20)


def test_mappings_and_lists_below_the_depth_of_real_objects_count() -> None:
    def nested(levels: int) -> dict[str, object]:
        return {"a": nested(levels - 1)} if levels else {}

    def listed(levels: int) -> list[object]:
        return [listed(levels - 1)] if levels else []

    assert budget.parts(nested(30), MOST_PARTS) == budget.parts(listed(30), MOST_PARTS) == PARTS_OF_AN_OBJECT
    assert budget.parts(nested(130), MOST_PARTS) > PARTS_OF_AN_OBJECT + 10
    assert budget.parts(listed(130), MOST_PARTS) > PARTS_OF_AN_OBJECT + 10


def test_a_file_of_thousands_of_plain_pods_is_within_the_budget() -> None:
    # Without what the API server adds, which makes a pod ten times as long.
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web-7d4b9c6f5-x2x7k", "namespace": "production", "labels": {"app": "web"}},
        "spec": {
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example.com/team/web:1.2.3",
                    "command": ["/usr/local/bin/web", "--port=8080"],
                    "resources": {"limits": {"cpu": "500m", "memory": "512Mi"}},
                }
            ]
        },
    }
    length = 460  # of its text in YAML, in a list
    assert budget.parts(pod, MOST_PARTS) == PARTS_OF_AN_OBJECT + 2
    assert 2 * 2**20 // length * (PARTS_OF_AN_OBJECT + 2) < budget.most_parts("x" * 2**21)
