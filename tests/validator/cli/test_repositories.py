"""Repositories with many kinds of files: charts, templates of other programs, ignored files, and values by name."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.charts import helm
from tests.validator.cli.sample_runs import CLEAN, FAULTY
from trainyard.cli import main

TEMPLATE = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: {{ .Release.Name }}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: {{ .Values.nodes }}
      restartPolicy: OnFailure
      template:
        spec:
          containers:
          - name: pytorch
            image: registry.example.com/team/llm:1.4
            env:
            - name: NCCL_SHM_DISABLE
              value: {{ .Values.shm | quote }}
            {{- if .Values.socket }}
            - name: NCCL_IB_DISABLE
              value: "no"
            {{- end }}
"""
# A clean chart: each test spoils one thing.
CHART = {
    "apps/llm/Chart.yaml": "apiVersion: v2\nname: llm\nversion: 0.1.0\n",
    "apps/llm/values.yaml": 'nodes: 2\nshm: "0"\nsocket: false\n',
    "apps/llm/templates/job.yaml": TEMPLATE,
}
FOREIGN = {
    "web/templates/page.yaml": "title: {{ title }}\n{% if user %}\nuser: {{ user }}\n{% endif %}\n",
    "karpenter/pool.yaml": "kind: NodePool\nspec:\n  requirements:\n    - values:\n${INSTANCE_TYPES}\n    - key: a\n",
    "web/tsconfig.json": '{\n  // comments are fine here\n  "strict": true,\n}\n',
    "helm/job.yaml": TEMPLATE,
    "broken.yaml": "a: [1\nb: 2\n",
}

Lint = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Lint:
    """A function that runs a command in an empty folder and returns its exit status and output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path.parent / "cache"))

    def run(*arguments: str, command: str = "lint") -> tuple[int, str, str]:
        capfd.readouterr()
        code = main.main([command, *arguments])
        return code, *capfd.readouterr()

    return run


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def places(out: str) -> list[str]:
    """Return place and code of each finding."""
    return [" ".join(line.split()[:3]).replace(": error", "") for line in out.splitlines() if ": error " in line]


def test_a_chart_in_a_folder_is_rendered_without_helm(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    write({**CHART, "k8s/job.yaml": CLEAN})
    assert lint(".")[:2] == (0, "Nothing found in 4 files.\n")
    write({"apps/llm/values.yaml": 'nodes: 2\nshm: "no"\nsocket: true\n'})
    code, out, err = lint(".")
    assert (code, err) == (1, "")
    assert places(out) == ["apps/llm/templates/job.yaml:20:22 NC005", "apps/llm/values.yaml:2:6 NC005"]
    assert "note: rendered from: apps/llm/templates/job.yaml:17:" in out


def test_a_value_that_no_file_sets_is_reported_at_the_template_that_reads_it(lint: Lint) -> None:
    template = TEMPLATE.replace("{{ .Values.shm | quote }}", '{{ (.Values.nccl).shm | default "no" | quote }}')
    write({**CHART, "apps/llm/templates/job.yaml": template})
    line = next(number for number, text in enumerate(template.splitlines(), 1) if "nccl" in text)
    code, out, _ = lint("apps")
    assert code == 1
    assert places(out) == [f"apps/llm/templates/job.yaml:{line}:15 NC005"]
    assert "note: `nccl` is not set in: apps/llm/values.yaml:1:1" in out


def test_a_chart_with_the_time_and_texts_of_words_is_checked(lint: Lint) -> None:
    labels = (
        '{started: {{ now | unixEpoch | quote }}, day: {{ now | date "Mon" }}, team: {{ title "llm team" | nospace }}}'
    )
    template = TEMPLATE.replace("spec:\n", f"  labels: {labels}\nspec:\n", 1)
    write({**CHART, "apps/llm/templates/job.yaml": template, "apps/llm/ci/no-values.yaml": 'shm: "no"\n'})
    code, out, _ = lint("apps")
    assert code == 1
    assert places(out) == ["apps/llm/ci/no-values.yaml:1:6 NC005"]


def test_an_image_that_the_defaults_of_a_chart_leave_empty_is_no_mistake(lint: Lint) -> None:
    template = TEMPLATE.replace("image: registry.example.com/team/llm:1.4", "image: {{ .Values.image | quote }}")
    values = CHART["apps/llm/values.yaml"] + 'image: ""\n'
    write({**CHART, "apps/llm/templates/job.yaml": template, "apps/llm/values.yaml": values})
    assert lint("apps")[:2] == (0, "Nothing found in 3 files.\n")
    write({"apps/llm/ci/empty-values.yaml": 'image: ""\n'})
    assert "KF003" in lint("apps")[1]


SELECTING = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: server
spec:
  selector:
    matchLabels:
      app: SELECTED
  template:
    metadata:
      labels:
        app: LABEL
    spec:
      containers:
      - name: server
        image: registry.example.com/team/server:1.4
"""


@pytest.mark.parametrize(
    ("selected", "label", "is_found"),
    [
        ("{{ .Release.Name }}", "{{ .Chart.Name }}", False),
        ("{{ .Chart.Name }}-api", "{{ .Release.Name }}-api", False),
        ("{{ .Release.Name }}-api", "api", True),
        ("{{ .Chart.Name }}", "server", True),
    ],
)
def test_a_selector_that_fits_a_release_with_the_name_of_its_chart_is_no_error(
    lint: Lint, selected: str, label: str, is_found: bool
) -> None:
    template = SELECTING.replace("SELECTED", selected).replace("LABEL", label)
    write({**CHART, "apps/llm/templates/server.yaml": template})
    assert ("SM010" in lint(".")[1]) is is_found


def test_each_scenario_of_a_chart_is_rendered(lint: Lint) -> None:
    scenario = {"apps/llm/ci/socket-values.yaml": "socket: true\n", "apps/llm/ci/shm-values.yaml": 'shm: "off"\n'}
    write({**CHART, **scenario})
    code, out, _ = lint("apps")
    assert code == 1
    assert places(out) == ["apps/llm/ci/shm-values.yaml:1:6 NC005", "apps/llm/templates/job.yaml:20:22 NC005"]


def test_a_comment_in_a_template_allows_a_finding_of_some_scenarios(lint: Lint) -> None:
    allowed = TEMPLATE.replace('value: "no"', 'value: "no"  # trainyard: allow nccl-word-boolean: an old image')
    write({**CHART, "apps/llm/templates/job.yaml": allowed, "apps/llm/ci/socket-values.yaml": "socket: true\n"})
    assert lint("apps")[:2] == (0, "Nothing found in 4 files (1 allowed).\n")


def test_subcharts_and_library_charts_are_no_charts_of_their_own(lint: Lint) -> None:
    part = {
        f"apps/llm/charts/part/{name.removeprefix('apps/llm/')}": text.replace("name: llm", "name: part")
        for name, text in CHART.items()
    }
    part["apps/llm/charts/part/values.yaml"] = 'nodes: 1\nshm: "off"\nsocket: false\n'
    off = CHART["apps/llm/Chart.yaml"] + "dependencies: [{name: part, version: 0.1.0, condition: part.enabled}]\n"
    library = {"apps/common/Chart.yaml": "apiVersion: v2\nname: common\nversion: 0.1.0\ntype: library\n"}
    library["apps/common/templates/_names.tpl"] = '{{- define "name" }}x{{ end }}'
    write({**CHART, **part, **library, "apps/llm/Chart.yaml": off})
    write({"apps/llm/values.yaml": CHART["apps/llm/values.yaml"] + "part: {enabled: false}\n"})
    assert lint("apps")[0] == 0
    write({"apps/llm/values.yaml": CHART["apps/llm/values.yaml"] + "part: {enabled: true}\n"})
    assert "NC005" in lint("apps")[1]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("templates/job.yaml", "a: {{ getHostByName .Values.x }}\n", "function getHostByName"),
        ("templates/job.yaml", 'a: {{ required "name a team" .Values.team }}\n', "name a team"),
        ("templates/job.yaml", "a: {{ .Values.shm }\n", "}"),
        ("templates/job.yaml", "{{ if .Values.shm }}\n", "end"),
        (
            "Chart.yaml",
            CHART["apps/llm/Chart.yaml"] + "dependencies: [{name: db, version: 1.0.0}]\n",
            "helm dependency",
        ),
        ("Chart.yaml", "apiVersion: v2\n", "name"),
    ],
)
def test_a_chart_that_cannot_be_rendered_is_never_green(lint: Lint, name: str, text: str, reason: str) -> None:
    write({**CHART, f"apps/llm/{name}": text, "k8s/job.yaml": CLEAN})
    code, out, _ = lint(".")
    assert code == 3
    assert "apps/llm/Chart.yaml:1:1: error HV007 nothing-linted: this chart was not checked: " in out
    assert reason in out
    assert "`trainyard lint --chart apps/llm` renders it with Helm" in out
    code, out, err = lint(".", "--ignore", "nothing-linted")
    assert code == 0
    assert err.startswith("note: apps/llm/Chart.yaml: ")


def test_values_that_are_encrypted_are_noted(lint: Lint) -> None:
    write({**CHART, "k8s/job.yaml": CLEAN})
    Path("apps/llm/values.yaml").write_bytes(b"SEALED\x01\x11\x9f\x46nodes: 2\nimage: \xb8\x16\xf3")
    Path("k8s/secrets.yaml").write_bytes(b"\x00GITCRYPT\x00\x9f\x46kind: Secret\n\xb8\x16\xf3")
    out = lint(".")[1]
    assert "HV009" not in out
    assert (
        "apps/llm/Chart.yaml:1:1: error HV007 nothing-linted: this chart was not checked: its values.yaml is no text"
        in out
    )


REPLACING = """\
resources: [secret.yaml]
replacements:
- source: {kind: ConfigMap, name: parameters, fieldPath: data.key}
  targets:
  - select: {kind: Secret, name: object-store}
    fieldPaths: [data.key]
"""
REPLACED = """\
apiVersion: v1
kind: Secret
metadata:
  name: object-store
data:
  key: $(key)
"""


def test_a_value_that_a_kustomization_replaces_is_no_mistake(lint: Lint) -> None:
    write({"one/secret.yaml": REPLACED, "one/kustomization.yaml": REPLACING})
    write({"two/secret.yaml": REPLACED, "two/kustomization.yaml": "resources: [secret.yaml]\n"})
    assert places(lint(".")[1]) == ["./two/secret.yaml:6:8 SM012"]


UNKNOWN = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: server
spec:
  replica: 2
"""


def test_a_patch_that_only_a_comment_names_is_not_judged(lint: Lint) -> None:
    write({"one/patches/scale.yaml": UNKNOWN, "one/kustomization.yaml": "patches:\n#- path: patches/scale.yaml\n"})
    write({"two/patches/scale.yaml": UNKNOWN, "two/kustomization.yaml": "patches:\n- path: patches/scale.yaml\n"})
    assert places(lint(".")[1]) == ["./two/patches/scale.yaml:6:3 SM001"]


def test_the_words_of_a_tokenizer_are_no_kubernetes(lint: Lint) -> None:
    words = ", ".join(f'"w{number}": {number}' for number in range(120_000))
    write({"k8s/job.yaml": CLEAN, "model/tokenizer.json": f'{{"vocab": {{"kind": 7, {words}}}}}'})
    code, _, err = lint(".")
    assert code == 0
    assert "model/tokenizer.json: not checked: nothing names it as Kubernetes" in err


def test_a_chart_that_needs_values_is_judged_by_its_scenarios(lint: Lint) -> None:
    needs = TEMPLATE.replace(".Values.nodes", '(required "set nodes" .Values.nodes)')
    write({**CHART, "apps/llm/templates/job.yaml": needs, "apps/llm/values.yaml": 'shm: "0"\n'})
    write({"apps/llm/ci/two-values.yaml": 'nodes: 2\nshm: "off"\n'})
    code, out, err = lint("apps")
    assert code == 1
    assert places(out) == ["apps/llm/ci/two-values.yaml:2:6 NC005"]
    assert err == "note: apps/llm/Chart.yaml: the chart refuses the values: set nodes\n"


def test_a_file_of_a_chart_stands_for_the_chart(lint: Lint) -> None:
    write({**CHART, "apps/llm/values.yaml": 'nodes: 2\nshm: "off"\n'})
    for name in ("apps/llm/values.yaml", "apps/llm/templates/job.yaml"):
        code, out, _ = lint(name)
        assert (code, places(out)) == (1, ["apps/llm/values.yaml:2:6 NC005"])


def test_the_charts_of_this_repository_are_judged(lint: Lint, tmp_path: Path) -> None:
    folder = tmp_path / "charts"
    folder.mkdir()
    for name in ("common", "training-networks"):
        (folder / name).symlink_to(helm.CHARTS["training-networks"].parent / name)
    code, out, err = lint(f"{folder}/training-networks")
    assert (code, err) == (0, "")
    assert "Nothing found in" in out
    values = json.loads(lint(f"{folder}/training-networks", "--output-format", "json")[1])["files"]
    assert any(name.endswith("ci/roce-values.yaml") for name in values)


def test_files_that_are_no_kubernetes_get_a_note(lint: Lint) -> None:
    write({**FOREIGN, "k8s/job.yaml": CLEAN})
    code, out, err = lint(".")
    assert (code, out) == (0, "Nothing found in 6 files.\n")
    assert sorted(line.split(": ")[1] for line in err.splitlines()) == sorted(f"./{name}" for name in FOREIGN)
    assert lint(*FOREIGN, "--ignore", "nothing-linted")[0] == 0
    assert lint(*FOREIGN)[0] == 3


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: ConfigMap\ndata: [\n",
        '{"kind": "Pod", "spec": [}\n',
        "image: {repository: a}\nresources: {}\nnodes: [\n",
        '{"train_batch_size": 8,, }\n',
        f"{CLEAN}---\na: [\n",
    ],
)
def test_a_damaged_file_that_names_itself_stays_an_error(lint: Lint, text: str) -> None:
    write({"k8s/a.yaml": text})
    code, out, _ = lint("k8s")
    assert code == 1
    assert "HV009 unreadable-document" in out


@pytest.mark.parametrize("chart", sorted(set(helm.CHARTS) - {"common"}))
def test_values_of_each_chart_are_recognised_by_their_keys(lint: Lint, chart: str) -> None:
    scenarios = sorted((helm.CHARTS[chart] / "ci").glob("*-values.yaml"))
    texts = {f"{chart}-{path.stem}.yaml": path.read_text() for path in scenarios if "defaults" not in path.name}
    some = dict(list(texts.items())[:3])
    write(some)
    for name in some:
        assert lint(name)[0] == 0, name


def test_a_mistake_in_a_site_is_found_at_its_line(lint: Lint) -> None:
    write({"site.yaml": "queues:\n  enabled: false\nfabric: {profile: none}\noperator: {enabledd: true}\n"})
    code, out, _ = lint("site.yaml")
    assert code == 1
    assert "site.yaml:4:12: error HV005" in out
    assert "enabled" in out


POD = """apiVersion: batch/v1
kind: Job
metadata: {name: run}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: run
          image: registry.example.com/team/run:1
          command: [run, --user, $(STORE_USER)]
          env:
            - {name: STORE, valueFrom: {secretKeyRef: {name: store, key: endpoint}}}
          volumeMounts: [{name: corpus, mountPath: /data}]
          resources: {limits: {memory: 1Gi}}
"""
OF_FILES = "SC002", "SM007"


def test_only_a_patch_that_names_something_can_add_it(lint: Lint) -> None:
    """The kustomization may be that of the file's own folder or of another one."""
    patch = "kind: Job\nmetadata: {name: run}\nspec: {template: {spec: {volumes: [{name: corpus, emptyDir: {}}]}}}\n"
    replicas = "patches: [{target: {kind: Job}, patch: '[{op: add, path: /spec/suspend, value: true}]'}]\n"
    write({"base/kustomization.yaml": f"resources: [job.yaml]\n{replicas}", "base/job.yaml": POD})
    assert all(code in lint(".")[1] for code in OF_FILES)
    inline = patch.replace("\n", "\n    ")
    write({"overlay/kustomization.yaml": f"resources: [../base]\npatches:\n- patch: |-\n    {inline}\n"})
    out = lint(".")[1]
    assert "SC002" in out
    assert "SM007" not in out
    write({"base/kustomization.yaml": "resources: [job.yaml]\nvars: [{name: STORE_USER}]\n"})
    assert not any(code in lint(".")[1] for code in OF_FILES)


def test_a_secret_of_another_file_may_get_keys_from_a_controller(lint: Lint) -> None:
    """A key that is much like one of its own is a mistake all the same."""
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: store}\nstringData: {KEY: a}\n"
    write({"job.yaml": POD, "secret.yaml": text})
    assert "RF004" not in lint(".")[1]
    write({"secret.yaml": text.replace("KEY", "endpoints")})
    assert "did you mean `endpoints`?" in lint(".")[1]
    write({"secret.yaml": "", "job.yaml": f"{POD}---\n{text}"})
    assert "RF004" in lint(".")[1]


def test_a_volcano_queue_of_another_example_is_no_limit(lint: Lint) -> None:
    queue = (
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\nspec: {capability: {cpu: 1}}\n"
    )
    container = "{name: a, image: b, resources: {limits: {cpu: 2, memory: 1Gi}}}"
    tasks = f"[{{name: a, replicas: 2, template: {{spec: {{restartPolicy: Never, containers: [{container}]}}}}}}]"
    job = (
        f"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {{name: a}}\nspec: {{queue: q, tasks: {tasks}}}\n"
    )
    write({"one/queue.yaml": queue, "two/job.yaml": job})
    assert "QU008" not in lint(".")[1]
    write({"two/queue.yaml": queue, "one/queue.yaml": ""})
    assert "QU008" in lint(".")[1]


def test_values_of_a_chart_with_another_name_are_its_own(lint: Lint) -> None:
    """The values of a wrapper have the keys of its subchart, and some of ours."""
    values = "queues:\n  enabled: false\nfabric: {profile: none}\noperator: {enabledd: true}\n"
    write({"wrapper/values.yaml": values, "wrapper/Chart.yaml": "apiVersion: v2\nname: wrapper\nversion: 1.0.0\n"})
    assert "HV005" not in lint("wrapper")[1]
    write({"ours/values.yaml": values, "ours/Chart.yaml": "apiVersion: v2\nname: training-platform\nversion: 1.0.0\n"})
    assert "HV005" in lint("ours/values.yaml")[1]


def test_the_shortest_run_is_recognised(lint: Lint) -> None:
    write({"run.yaml": 'image: {repository: a/b, tag: "1"}\nresources: {limits: {nvidia.com/gpu: 8}}\n'})
    assert lint("run.yaml")[0] == 0
    write({"app.yaml": 'image: {repository: a/b, tag: "1"}\nresources: {limits: {cpu: 8}}\n'})
    assert lint("app.yaml")[0] == 3


def test_ignored_files_are_left_out_of_folders_and_named_ones_are_not(lint: Lint) -> None:
    write({".gitignore": "node_modules/\n*.tmp.yaml\n!keep.tmp.yaml\n", "k8s/.gitignore": "/local.yaml\n"})
    for name in ("node_modules/a/b.yaml", "x.tmp.yaml", "k8s/local.yaml", "k8s/keep.tmp.yaml", "k8s/deep/local.yaml"):
        write({name: FAULTY})
    found = ["./k8s/deep/local.yaml:17:22 NC005", "./k8s/keep.tmp.yaml:17:22 NC005"]
    assert places(lint(".")[1]) == found, "outside of a repository"
    subprocess.run(["git", "init", "--quiet"], check=True)
    assert places(lint(".")[1]) == found
    assert places(lint("k8s")[1]) == [place.removeprefix("./") for place in found]
    assert places(lint("node_modules")[1]) == ["node_modules/a/b.yaml:17:22 NC005"]
    assert places(lint("k8s/local.yaml")[1]) == ["k8s/local.yaml:17:22 NC005"]
    assert lint(".", command="fix")[0] == 0
    assert Path("node_modules/a/b.yaml").read_text() == Path("k8s/local.yaml").read_text() == FAULTY
    assert Path("k8s/deep/local.yaml").read_text() == CLEAN
    write({".trainyard.yaml": "respect-gitignore: false\n"})
    assert len(places(lint(".")[1])) == 3


def test_virtual_environments_are_skipped_unless_they_are_named(lint: Lint) -> None:
    packages = "env/lib/python3.11/site-packages"
    write({"env/pyvenv.cfg": "home = /usr/bin\n", f"{packages}/ray/job.yaml": FAULTY, "job.yaml": CLEAN})
    assert lint(".")[:2] == (0, "Nothing found in 1 file.\n")
    for name in ("env", packages):
        code, out, _ = lint(name)
        assert (code, f"{packages}/ray/job.yaml:17:22: error NC005" in out) == (1, True)


def test_fix_corrects_the_values_of_a_chart(lint: Lint) -> None:
    write({**CHART, "apps/llm/values.yaml": 'nodes: 2\nshm: "no"\nsocket: false\n'})
    assert lint("apps", command="fix")[0] == 0
    assert Path("apps/llm/values.yaml").read_text() == CHART["apps/llm/values.yaml"]


def test_fix_corrects_the_values_of_a_named_chart(lint: Lint) -> None:
    write({"run.yaml": 'image: {repository: a/b, tag: "1"}\nenv: {NCCL_SHM_DISABLE: "no"}\n'})
    chart = str(helm.CHARTS["training-job"])
    assert lint("--chart", chart, "-f", "run.yaml", command="fix")[0] == 0
    assert 'NCCL_SHM_DISABLE: "0"' in Path("run.yaml").read_text()


WARNING = FAULTY.replace('"no"', '"0"').replace(
    "            env:",
    "            env:\n"
    "            - {name: PYTORCH_CUDA_ALLOC_CONF, value: 'expandable_segments:True,max_split_size_mb:512'}",
)


def test_the_severity_decides_what_is_reported_and_what_fails(lint: Lint) -> None:
    write({"job.yaml": WARNING})
    code, out, _ = lint("job.yaml")
    assert (code, "1 warning" in out) == (1, True)
    assert lint("job.yaml", "--fail-on", "error") == (0, out, "")
    assert lint("job.yaml", "--fail-on", "warning")[0] == 1
    assert lint("job.yaml", "--exit-zero") == (0, out, "")
    assert lint("job.yaml", "--min-severity", "error") == (0, "Nothing found in 1 file.\n", "")
    for setting in ("fail-on: error", "exit-zero: true", "min-severity: error"):
        write({".trainyard.yaml": f"{setting}\n"})
        assert lint("job.yaml")[0] == 0
    write({".trainyard.yaml": "fail-on: error\n"})
    assert lint("job.yaml", "--fail-on", "info")[0] == 1
    write({".trainyard.yaml": "fail-on: eror\n"})
    code, _, err = lint("job.yaml")
    assert (code, "there is no severity `eror`; did you mean `error`?" in err) == (2, True)


def test_nothing_linted_fails_whatever_the_severity(lint: Lint) -> None:
    write({"empty.yaml": "a: 1\n"})
    assert lint("empty.yaml", "--exit-zero")[0] == 3
