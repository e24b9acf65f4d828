"""Parts that were not checked are named in every format, and are not called clean."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from trainyard.cli import main
from trainyard.engine import registry
from trainyard.facts.jobs.judged_kinds import JUDGED_KINDS

SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n"
CUSTOM = "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: foo}\nspec: {size: 3}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b}]}\n"
Lint = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lint:
    """Lint files in an empty folder; return the exit code and both outputs."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str, **texts: str) -> tuple[int, str, str]:
        for name, text in texts.items():
            path = tmp_path / (name.replace("__", "/") + (".json" if text.startswith("{") else ".yaml"))
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        code = main.main(["lint", *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.mark.parametrize(("text", "kind"), [(SERVICE, "Service"), (CUSTOM, "Foo")])
def test_a_named_file_without_anything_to_check_is_not_called_clean(lint: Lint, text: str, kind: str) -> None:
    assert lint("a.yaml", a=text) == (
        0,
        "Nothing was checked in 1 file.\n",
        f"note: a.yaml: not checked: no rule is about {kind}\n",
    )


def test_json_gets_the_same_note(lint: Lint) -> None:
    text = '{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}'
    assert lint("a.json", a=text)[2] == "note: a.json: not checked: no rule is about Service\n"


def test_standard_input_gets_the_same_note(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SERVICE.encode())))
    assert lint("-")[2] == "note: <stdin>: not checked: no rule is about Service\n"


def test_a_folder_without_anything_to_check_is_named_once(lint: Lint) -> None:
    code, out, notes = lint("apps", apps__a=SERVICE, apps__b=CUSTOM)
    assert (code, out) == (0, "Nothing was checked in 2 files.\n")
    assert notes == "note: apps: not checked: no rule is about Foo or Service\n"


def test_files_beside_others_that_are_checked_are_usual_in_a_folder(lint: Lint) -> None:
    assert lint("apps", apps__a=SERVICE, apps__b=POD) == (0, "Nothing found in 2 files.\n", "")


def test_the_notes_are_in_json(lint: Lint) -> None:
    report = json.loads(lint("--output-format", "json", "a.yaml", a=CUSTOM)[1])
    assert report["notes"] == ["a.yaml: not checked: no rule is about Foo"]


def test_the_notes_are_notifications_in_sarif(lint: Lint) -> None:
    (run,) = json.loads(lint("--output-format", "sarif", "a.yaml", a=CUSTOM)[1])["runs"]
    (invocation,) = run["invocations"]
    assert [told["message"]["text"] for told in invocation["toolExecutionNotifications"]] == [
        "a.yaml: not checked: no rule is about Foo"
    ]


def test_the_kinds_that_rules_name_count_as_checked() -> None:
    texts = [path.read_text() for path in registry.folder().glob("*/*.py")]
    named = {kind for text in texts for kind in re.findall(r'(?:of_kind\(|kind (?:==|!=) )"([A-Z]\w+)"', text)}
    jobs = {kind for kind in named if kind.endswith(("Job", "Set", "Cluster", "Deployment", "Pod"))}
    # These are judged only together with others: what is wrapped, claims of volumes, pods of Services, labels of nodes,
    # queues with their checks, accounts of bindings, groups of nodes with the pods that select them,
    # namespaces and priorities of pods, values that are added to a chart, features beside the rules about them,
    # servers that select monitors and rules, autoscalers by metrics of a chart, and workflows with roles.
    beside = {"AdmissionCheck", "AppWrapper", "NodePool", "PersistentVolume", "Secret", "Service", "ServiceAccount"}
    beside |= {"ClusterConfig", "CronWorkflow", "InferenceService", "Namespace", "PriorityClass", "StorageClass"}
    beside |= {"HelmChartConfig", "HorizontalPodAutoscaler", "NodeFeature", "Prometheus", "ScaledObject", "ThanosRuler"}
    assert named - jobs - beside <= JUDGED_KINDS


@pytest.mark.parametrize("kind", ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"])
def test_rules_are_about_roles_and_their_bindings(lint: Lint, kind: str) -> None:
    """RF035 judges what a role grants, and RF039 whom a binding names."""
    text = f"apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: a}}\n"
    text += (
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a}\n" if "Binding" in kind else "rules: []\n"
    )
    assert lint("a.yaml", a=text) == (0, "Nothing found in 1 file.\n", "")


def test_files_that_a_test_compares_are_not_judged_and_say_so(lint: Lint) -> None:
    """Kuttl and Chainsaw create nothing from an assertion; a named file is checked all the same."""
    pod = POD.replace("image: b", "imagee: b")
    steps = "apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: Test\nspec: {}\n# - assert:\n#     file: x.yaml\n"
    steps += "x:\n  - assert:\n      file: ray-result.yaml\n"
    texts = {"e2e__00-assert": pod, "e2e__expected_pod": pod, "e2e__ray-result": pod, "e2e__chainsaw-test": steps}
    code, _, notes = lint("e2e", **texts)
    assert code == 0
    for name in ("00-assert", "expected_pod", "ray-result"):
        assert f"note: e2e/{name}.yaml: not checked: a test compares its objects" in notes
    assert "imagee" in lint("e2e/ray-result.yaml")[1]


def test_the_expected_output_of_a_test_is_not_judged_and_says_so(lint: Lint, tmp_path: Path) -> None:
    """A folder above the one that is linted may have any name."""
    pod = POD.replace("image: b", "imagee: b")
    for folder in (
        "src/test/resources/expected_helm_output",
        "tests/expected",
        "tests/fixtures/policy",
        "pkg/testdata/b",
        "fn/test_data",
        "mine/expected",
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.yaml").write_text(pod)
    _, out, notes = lint(".", b=POD)
    assert re.findall(r"note: (\S+): not checked: a test compares", notes) == [
        "./fn/test_data/a.yaml",
        "./pkg/testdata/b/a.yaml",
        "./src/test/resources/expected_helm_output/a.yaml",
        "./tests/expected/a.yaml",
        "./tests/fixtures/policy/a.yaml",
    ]
    assert re.findall(r"^(\S+):\d+:\d+: error", out, re.MULTILINE) == ["./mine/expected/a.yaml"]
    assert "imagee" in lint("tests/expected")[1]


@pytest.mark.parametrize("folder", ["fixtures", "testdata"])
def test_json_that_may_be_a_recorded_answer_is_not_judged_and_says_so(lint: Lint, folder: str) -> None:
    """A user's own file may be there as well: it is checked if it is named."""
    pod = json.dumps(yaml.safe_load(POD.replace("image: b", "imagee: b")))
    code, _, notes = lint(".", **{"a": POD, f"{folder}__a": pod})
    assert code == 0
    assert (
        f"note: ./{folder}/a.json: not checked: JSON below `fixtures` or `testdata` may be a recorded answer" in notes
    )
    assert "imagee" in lint(f"{folder}/a.json")[1]


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ('{\n "train_batch_size": 8\n "fp16": {"enabled": true},\n}\n', True),
        ('{\n // steps\n "train_batch_size": 8, # all\n "zero_optimization": {"stage": 2} /* no more */\n}\n', True),
        ('{\n "train_batch_size": 8,\n "fp16": {"enabled": true}\n', False),
        ('{\n "train_batch_size": 8,, "fp16": [}\n}\n', False),
    ],
)
def test_what_deepspeed_reads_as_hjson_is_no_error(lint: Lint, text: str, reads: bool) -> None:
    code, out, notes = lint(".", a=POD, ds=text)
    assert (code == 0) is reads, out
    assert ("HV009" in out) is not reads
    assert ("DeepSpeed reads it as Hjson" in notes) is reads


def test_a_masked_value_is_no_error(lint: Lint) -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  password: ******\n"
    code, _, notes = lint(".", a=POD, b=text)
    assert code == 0
    assert "note: ./b.yaml: not checked: a value is masked with asterisks" in notes
    assert "HV009" in lint(".", b=text.replace("******", "*a b: c"))[1]


@pytest.mark.parametrize(
    ("broken", "note"),
    [
        ("  name: %%YOUR_GATEWAY%%\n", "this is a template"),
        ("  annotations:NLB_ANNOTATIONS\n  name: a\n", "this is a template"),
        ("  name: {prefix}-server\n  labels: {}\n", "this is a template"),
        ("  name: a\n  labels: {app: ${NAME}}\n", "this is a template"),
        ("  {name: a, namespace: team-${TEAM} }\n", "this is a template"),
        ("  name: a\n  labels:\n    notebook: %notebook-name%\n", "this is a template"),
        ("--B\nContent-Type: application/node.eks.aws\n\n", "this is MIME"),
    ],
)
def test_a_file_that_a_program_makes_an_object_of_is_no_error(lint: Lint, broken: str, note: str) -> None:
    code, out, notes = lint(".", a=POD, b=f"apiVersion: v1\nkind: Pod\nmetadata:\n{broken}")
    assert code == 0, out
    assert f"note: ./b.yaml: not checked: {note}" in notes
    assert "HV009" in lint(".", b="apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:NLB\n  name: a\n")[1]


def test_a_format_string_of_python_is_no_object(lint: Lint) -> None:
    """YAML reads `{name}` as a mapping."""
    text = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\nspec:\n  containers:\n    - {name: a, image: ''}\n"
    code, out, notes = lint(".", a=POD, b=text)
    assert code == 0, out
    assert "note: ./b.yaml: not checked: a program replaces the words in braces" in notes
    assert "SM003" in lint(".", b=text.replace("{name}\n", "{name: a}\n"))[1]


def test_ytt_makes_the_objects_of_its_templates(lint: Lint) -> None:
    """The body of a function looks like fields of the object below it, and values are written in comments."""
    text = '#@ load("@ytt:data", "data")\n#@ def credentials():\nmetrics:\n  - url: #@ data.values.url\n#@ end\n'
    text += "\napiVersion: v1\nkind: Namespace\nmetadata: {name: agent}\n"
    code, out, notes = lint(".", a=POD, b=text)
    assert code == 0, out
    assert "note: ./b.yaml: not checked: ytt makes the objects of this file" in notes
    assert "SM001" in lint(".", b=text.replace("#@", "#"))[1]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("{'kind': None,\n 'message': 'no disk '\n            'pressure'}\n", "a program of Python printed this"),
        ('{"level": "info"}\n{"involvedObject": {"apiVersion": "v1", "kind": "Pod"}}\n', "each line is a record"),
    ],
)
def test_recorded_data_is_no_broken_object(lint: Lint, text: str, note: str) -> None:
    code, out, notes = lint(".", a=POD, b=text)
    assert code == 0, out
    assert f"note: ./b.json: not checked: {note}" in notes
    assert "HV009" in lint(".", b='{"apiVersion": "v1", "kind": "Pod"}\n{"kind": "Pod"}\n')[1]


def test_a_snapshot_of_jest_quotes_objects(lint: Lint) -> None:
    text = '// Jest Snapshot v1\n\nexports[`pod 1`] = `\n"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"\n`;\n'
    code, out, notes = lint(".", a=POD, b=text)
    assert code == 0, out
    assert "not checked: this is a snapshot of Jest" in notes


def test_a_word_alone_stands_for_lines_of_a_program(lint: Lint) -> None:
    text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n    SERVICE_ACCOUNT\n"
    text += "  containers: [{name: a, image: b}]\n"
    code, out, notes = lint(".", a=POD, b=text)
    assert code == 0, out
    assert "note: ./b.yaml: not checked: this is a template" in notes
    assert "HV009" in lint(".", b=text.replace("SERVICE_ACCOUNT", "serviceAccount"))[1]


def test_a_substitution_of_sphinx_is_no_block_of_text(lint: Lint) -> None:
    text = "apiVersion: mellanox.com/v1alpha1\nkind: NicClusterPolicy\nmetadata: {name: a}\nspec:\n"
    text += "  ofedDriver:\n    repository: |doca-driver-repository|\n"
    code, out, notes = lint(".", a=POD, b=text)
    assert code == 0, out
    assert "note: ./b.yaml: not checked: this is a template" in notes
    assert "HV009" in lint(".", b=text.replace("repository|", "repository"))[1]


def test_json_of_a_test_in_java_may_be_a_recorded_answer(lint: Lint) -> None:
    text = '{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "a"}, '
    text += '"spec": {"backoffLimit": 3}}'
    (Path.cwd() / "src/test").mkdir(parents=True)
    code, out, notes = lint(".", a=POD, src__test__resources__b=text)
    assert code == 0, out
    assert "may be a recorded answer" in notes


def test_a_field_of_jinja_with_other_brackets_is_no_list(lint: Lint) -> None:
    text = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  completions: [[size]]\n"
    text += "  template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}\n"
    code, out, notes = lint(".", a=POD, b=text)
    assert code == 0, out
    assert "a program replaces the words in braces" in notes
    assert "SM003" in lint(".", b=text.replace("[[size]]", "[[3]]"))[1]


def test_a_backslash_in_a_suite_of_helm_unittest_is_no_error(lint: Lint) -> None:
    """helm-unittest reads such a suite again, with the backslashes doubled."""
    text = "suite: config\ntests:\n  - it: renders\n    documentSelector:\n      kind: Pod\n    asserts:\n"
    text += '      - matchRegex: {path: data.a, pattern: "a\\s*b"}\n---\nkind: Pod\n'
    code, out, notes = lint(".", a=POD, b=text)
    assert code == 0, out
    assert "note: ./b.yaml: not checked: helm-unittest reads a backslash that YAML refuses: line 7" in notes
    assert "HV009" in lint(".", b=text.replace("asserts:", "expects:"))[1]


def test_objects_that_sops_has_encrypted_are_not_judged_and_say_so(lint: Lint) -> None:
    """Others of the file are, and so is a Secret with encrypted data alone."""
    sealed = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n"
    sealed += "  replicas: ENC[AES256_GCM,data:2g==,iv:ZLGQ,tag:waYe,type:int]\n"
    store = "sops: {mac: 'ENC[AES256_GCM,data:8p1Uh57M,type:str]', version: 3.7.1}\n"
    owned = "apiVersion: v1\nkind: Secret\nmetadatas: {name: a}\ndata: {a: 'ENC[AES256_GCM,data:2g==,type:str]'}\n"
    code, out, notes = lint(".", a=POD, b=f"{sealed}{store}---\n{POD}")
    assert code == 0, out
    assert "note: ./b.yaml: not checked: sops has encrypted its objects" in notes
    assert "imagee" in lint(".", b=f"{sealed}{store}---\n{POD.replace('image: b', 'imagee: b')}")[1]
    assert "metadatas" in lint(".", b=owned + store)[1]
    assert "SM003" in lint(".", b=sealed)[1]


def test_a_file_whose_name_says_that_it_is_broken_is_no_error(lint: Lint) -> None:
    broken = "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:NLB\n  name: a\n"
    code, out, notes = lint(".", a=POD, samples__invalid=broken)
    assert code == 0, out
    assert "note: ./samples/invalid.yaml: not checked: its name says that it is broken" in notes
    assert "HV009" in lint(".", samples__validated=broken)[1]


def test_files_of_a_folder_named_broken_are_not_judged_and_say_so(lint: Lint) -> None:
    """Lessons have such folders. A named file is checked all the same."""
    pod = POD.replace("image: b", "imagee: b")
    code, out, notes = lint(".", a=POD, broken__a=pod)
    assert code == 0, out
    assert "note: ./broken/a.yaml: not checked: the name of its folder says that it is broken" in notes
    assert "imagee" in lint("broken/a.yaml")[1]
    assert "imagee" in lint("broken")[1]
