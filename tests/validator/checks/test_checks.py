"""Checks of the configuration: they are rules like all others, and their mistakes are named."""

from __future__ import annotations

import builtins
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.validator.cli.sample_runs import CLEAN, FAULTY
from trainyard import DISTRIBUTION
from trainyard.checks import expressions
from trainyard.checks.check import Check
from trainyard.checks.values import VARIABLES
from trainyard.cli import main
from trainyard.engine import registry, rule_index
from trainyard.linting import config_schema
from trainyard.linting.config import load_config
from trainyard.linting.session import Options, start_session
from trainyard.reporters import json_schema

Run = Callable[..., tuple[int, str, str]]
LABEL: dict[str, Any] = {
    "code": "ACME001",
    "name": "team-label-missing",
    "message": "the job has no label `team`",
    "expression": "has(object.metadata.labels) && 'team' in object.metadata.labels",
}
IMAGE: dict[str, Any] = {
    "code": "ACME002",
    "name": "image-from-elsewhere",
    "subject": "container",
    "severity": "warning",
    "message": "the image is not from our registry",
    "messageExpression": "'`' + container.image + '` of ' + run.name + ' is not from our registry'",
    "help": "push it to registry.acme.example",
    "link": "https://wiki.acme.example/images",
    "expression": "container.image.startsWith('registry.acme.example/')",
    "at": "image",
}


@pytest.fixture
def trainyard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """The command line in a folder with a run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.yaml").write_text(CLEAN)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main.main(list(arguments))
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return run


def configure(*checks: dict[str, Any], **others: Any) -> None:
    """Write a configuration."""
    Path(".trainyard.yaml").write_text(yaml.safe_dump({**others, "checks": list(checks)}, sort_keys=False))


def changed(check: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a check with other fields."""
    return {**check, **fields}


def test_a_check_reports_at_its_place_with_its_own_message(trainyard: Run) -> None:
    configure(LABEL, IMAGE)
    code, out, _ = trainyard("lint", "run.yaml")
    assert code == 1
    assert "run.yaml:1:1: error ACME001 team-label-missing: the job has no label `team`\n" in out
    message = "`registry.example.com/team/llm:1.4` of llm is not from our registry"
    assert f"run.yaml:14:20: warning ACME002 image-from-elsewhere: {message}\n" in out
    assert "help: push it to registry.acme.example" in out


def test_an_object_without_the_fault_is_clean(trainyard: Run) -> None:
    configure(LABEL)
    Path("run.yaml").write_text(CLEAN.replace("  name: llm\n", "  name: llm\n  labels: {team: vision}\n"))
    assert trainyard("lint", "run.yaml")[0] == 0


def test_a_changed_check_judges_files_again_that_were_clean(trainyard: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINYARD_CACHE", str(Path("cache").absolute()))
    for number in range(70):
        path = Path(f"runs/{number}.yaml")
        path.parent.mkdir(exist_ok=True)
        path.write_text(CLEAN)
    configure(changed(LABEL, expression="has(object.metadata.name)"))
    assert trainyard("lint", "runs")[0] == 0
    configure(changed(LABEL, expression="object.metadata.name != 'llm'"))
    assert len(re.findall(r"\bruns/\d+\.yaml:1\b", trainyard("lint", "runs")[1])) == 70


def test_checks_are_selected_ignored_and_allowed_like_rules(trainyard: Run) -> None:
    configure(LABEL, IMAGE, select=["ACME"], ignore=["team-label-missing"])
    out = trainyard("lint", "run.yaml")[1]
    assert ("ACME001" in out, "ACME002" in out) == (False, True)
    configure(LABEL, allow=[{"rule": "ACME001", "reason": "the team is on holiday"}])
    assert trainyard("lint", "run.yaml")[0] == 0
    configure(LABEL)
    Path("run.yaml").write_text("# trainyard: allow team-label-missing: a demo\n" + CLEAN)
    assert trainyard("lint", "run.yaml")[0] == 0
    assert trainyard("lint", "run.yaml", "--select", "NC")[0] == 0


def test_checks_are_in_the_list_the_pages_and_the_output_of_programs(trainyard: Run) -> None:
    configure(IMAGE)
    assert "ACME002  image-from-elsewhere" in trainyard("rules", "--family", "checks")[1]
    page = trainyard("explain", "acme002")[1]
    for part in ("container.image.startsWith", "https://wiki.acme.example/images", ".trainyard.yaml:2"):
        assert part in page
    report = json.loads(trainyard("lint", "run.yaml", "--output-format", "json")[1])
    jsonschema.validate(report, json_schema.report_schema())
    (finding,) = report["findings"]
    assert (finding["rule"], finding["url"]) == ("ACME002", "https://wiki.acme.example/images")
    (run,) = json.loads(trainyard("lint", "run.yaml", "--output-format", "sarif")[1])["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["ACME002"]
    assert trainyard("baseline", "run.yaml")[0] == 0
    assert trainyard("lint", "run.yaml", "--baseline", "trainyard-baseline.json")[0] == 0


def test_without_a_configuration_there_are_no_checks(trainyard: Run) -> None:
    configure(LABEL)
    trainyard("lint", "run.yaml")
    Path(".trainyard.yaml").unlink()
    assert "ACME001" not in trainyard("rules")[1]
    assert trainyard("lint", "run.yaml")[0] == 0


def test_checks_of_a_configuration_leave_the_rules_of_trainyard_alone(trainyard: Run) -> None:
    configure(LABEL)
    assert trainyard("lint", "run.yaml")[0] == 1
    assert len(registry.rules()) == len(rule_index.RULES)
    assert registry.find_rule("team-label-missing") is None


def test_each_of_two_configurations_keeps_its_checks(trainyard: Run) -> None:
    Path("run.yaml").write_text("# trainyard: allow team-label-missing: a demo\n" + CLEAN)
    configure(LABEL)
    first = start_session(("run.yaml",))
    Path("other.yaml").write_text("pedantic: false\n")
    second = start_session(("run.yaml",), Options(config_file="other.yaml"))
    assert first.lint().findings == ()
    (finding,) = second.lint().findings
    assert "no rule has this name or code" in finding.message


@pytest.mark.parametrize(
    ("match", "reported"),
    [
        ({"kinds": ["PyTorchJob"]}, True),
        ({"kinds": ["PyTorchJob.kubeflow.org"]}, True),
        ({"kinds": ["PyTorchJob.batch"]}, False),
        ({"kinds": ["Job"]}, False),
        ({"namespaces": ["other"]}, False),
        ({"kinds": ["PyTorchJob"], "namespaces": ["vision"]}, True),
    ],
)
def test_a_check_judges_what_it_matches(trainyard: Run, match: dict[str, Any], reported: bool) -> None:
    configure(changed(LABEL, match=match))
    Path("run.yaml").write_text(CLEAN.replace("  name: llm\n", "  name: llm\n  namespace: vision\n"))
    assert ("ACME001" in trainyard("lint", "run.yaml")[1]) == reported


@pytest.mark.parametrize(
    ("subject", "expression"),
    [
        ("run", "run.kind == 'PyTorchJob' && run.nodes == 1 && run.gpus == 0 && run.roles[0].name == 'Worker'"),
        ("role", "role.replicas == 1 && role.restartPolicy == 'OnFailure' && run.name == 'llm'"),
        ("pod", "!pod.hostNetwork && pod.gpus == 0 && size(pod.volumes) == 0 && role.trains"),
        ("container", "container.env['NCCL_SHM_DISABLE'] == '0' && container.memoryLimitBytes == null"),
        ("object", "object.spec.?pytorchReplicaSpecs.hasValue() && object.metadata.name.split('l').size() == 3"),
    ],
)
def test_each_subject_has_its_values(trainyard: Run, subject: str, expression: str) -> None:
    configure(changed(LABEL, subject=subject, expression=expression))
    assert trainyard("lint", "run.yaml") == (0, "Nothing found in 1 file.\n", "")
    configure(changed(LABEL, subject=subject, expression=f"!({expression})"))
    assert trainyard("lint", "run.yaml")[0] == 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"expression": "object.metadata."}, ":2: checks[0].expression: column 17 of `object.metadata.`: Syntax error"),
        ({"expression": "objec.kind == ''"}, "undeclared reference to `objec.kind`; the variables here are object"),
        ({"subject": "pod", "expression": "container.gpus > 0"}, "the variables here are run, role, pod"),
        ({"expression": "1 == 'a'"}, "found no matching overload for `_==_` applied to `(int, string)`"),
        ({"expression": "object.kind == 'a' ? 1 : 2"}, "its result is an int and not true or false"),
        ({"messageExpression": "1 + 1"}, "checks[0].messageExpression: its result is an int and not a string"),
        ({"message": None}, ":2: checks[0]: `message` is missing; it states the fault in a sentence"),
        ({"code": "NC900"}, ":2: checks[0].code: codes with NC are those of Trainyard; choose other letters"),
        ({"code": "acme1"}, "checks[0].code: write a word such as ACME001: capital letters"),
        ({"name": "nccl-word-boolean"}, ":3: checks[0].name: `nccl-word-boolean` is that of the rule"),
        ({"subject": "containers"}, "checks[0].subject: there is no `containers`; did you mean `container`?"),
        ({"severity": "fatal"}, "checks[0].severity: there is no `fatal`; write one of error, warning, info"),
        ({"expresion": "true"}, "checks[0].expresion: there is no such key; did you mean `expression`?"),
        ({"at": "metadata..labels"}, "checks[0].at: `..labels` is no path"),
        ({"link": "wiki"}, "checks[0].link: write an address that begins with https://"),
        ({"match": {"kinds": "Job"}}, "checks[0].match.kinds: write a list of strings"),
        ({"cases": {"bad": ["missing.yaml"]}}, "cases.bad[0]: missing.yaml cannot be read: no such file"),
        ({"cases": {"bad": ["../../etc/passwd"]}}, "cases.bad[0]: ../../etc/passwd cannot be read: its path leads"),
    ],
)
def test_a_mistake_in_a_check_is_named_with_its_line(trainyard: Run, fields: dict[str, Any], message: str) -> None:
    configure(changed(LABEL, **fields))
    code, out, err = trainyard("lint", "run.yaml")
    assert (code, out) == (2, "")
    assert message in err.replace("\n", "")


def test_two_checks_with_one_name_are_a_mistake(trainyard: Run) -> None:
    configure(LABEL, changed(IMAGE, name="team-label-missing"))
    code, _, err = trainyard("lint", "run.yaml")
    assert code == 2
    assert "checks[1].name: `team-label-missing` is that of the rule `team-label-missing`; choose another" in err


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("object.metadata.labels.team == 'a'", "there is no key `labels` here; write `has(PARENT.labels)` before it"),
        ("object.metadata.name", "its result is a string and not true or false"),
        ("object.metadata.name.first == ''", "it reads a field of a value that has no fields"),
        ("object.metadata.name > 5", "there is no operation _>_(string, int64)"),
        (
            "['a','b'].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d,"
            " [1,2,3,4,5,6,7,8,9].all(e, a != string(b+c+d+e))))))",
            "it takes more than 10,000 steps for this object",
        ),
    ],
)
def test_an_expression_that_fails_names_the_check_and_the_object(trainyard: Run, expression: str, reason: str) -> None:
    configure(changed(LABEL, expression=expression))
    code, _, err = trainyard("lint", "run.yaml")
    assert code == 2
    where = ".trainyard.yaml:2: checks[0].expression: `team-label-missing` failed for PyTorchJob llm at run.yaml:1: "
    assert where + reason in err


def test_the_cases_of_checks_run(trainyard: Run) -> None:
    good = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"team": "a"}}}
    configure(changed(LABEL, cases={"good": [good], "bad": ["run.yaml", CLEAN]}))
    assert trainyard("rules", "--check") == (
        0,
        "ACME001 team-label-missing: 3 cases passed\n3 cases of 1 check, all passed.\n",
        "",
    )


@pytest.mark.parametrize(
    ("cases", "fault"),
    [
        ({"good": ["run.yaml"]}, "the check reports this good case, at its line 1: the job has no label `team`"),
        (
            {"bad": ["metadata: {labels: {team: a}}\nkind: Pod\napiVersion: v1\n"]},
            "the check reports nothing in this bad",
        ),
        ({"bad": ["a: 1\n"]}, "the case holds no object that `match` covers"),
        ({"bad": ["a: [1\n"]}, "of the case cannot be read"),
    ],
)
def test_a_case_with_another_verdict_fails(trainyard: Run, cases: dict[str, Any], fault: str) -> None:
    configure(changed(LABEL, cases=cases))
    code, out, _ = trainyard("rules", "--check")
    assert code == 1
    assert fault in out


def test_a_wrong_configuration_leaves_the_list_of_other_rules(trainyard: Run) -> None:
    configure(changed(LABEL, message=""))
    code, out, err = trainyard("rules", "shared", "memory")
    assert (code, "SH001" in out) == (0, True)
    assert "without the checks of the configuration" in err
    assert trainyard("rules", "--check")[0] == 2


def test_toml_holds_checks_as_well(trainyard: Run) -> None:
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in LABEL.items())
    Path("pyproject.toml").write_text(f"[[tool.trainyard.checks]]\n{lines}")
    assert "ACME001" in trainyard("lint", "run.yaml")[1]


def test_the_schema_of_the_configuration_knows_checks() -> None:
    schema = config_schema.configuration_schema()
    jsonschema.validate({"checks": [LABEL, IMAGE], "allow": [{"rule": "ACME001", "reason": "a"}]}, schema)
    described = schema["properties"]["checks"]["items"]["properties"]
    assert set(described["subject"]["enum"]) == set(VARIABLES)
    assert len(described) < len(Check._fields)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"checks": [changed(LABEL, code="acme1")]}, schema)


def test_without_the_library_the_message_says_how_to_install_it(
    trainyard: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def missing(name: str, *others: Any) -> Any:
        if name.startswith("cel_expr_python"):
            raise ImportError(name)
        return real(name, *others)

    expressions._environment.cache_clear()
    monkeypatch.setattr(builtins, "__import__", missing)
    configure(LABEL)
    code, _, err = trainyard("lint", "run.yaml")
    assert code == 2
    assert f"python -m pip install '{DISTRIBUTION}[checks]'" in err


def test_a_configuration_without_checks_imports_nothing_for_them(tmp_path: Path) -> None:
    (tmp_path / ".trainyard.yaml").write_text("min-severity: error\n")
    (tmp_path / "run.yaml").write_text(FAULTY)
    program = (
        "import sys; from trainyard.cli import main; main.main(['lint', 'run.yaml']);"
        "print([name for name in sys.modules if name.startswith(('trainyard.checks', 'cel_expr'))])"
    )
    environment = {"PYTHONPATH": str(Path(__file__).parents[3] / "validator"), "HOME": str(tmp_path)}
    command = [sys.executable, "-c", program]
    out = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    assert out.endswith("[]\n")


def test_load_config_reads_no_library_for_defaults() -> None:
    assert load_config(None).checks == ()


def test_the_example_of_the_manual_works(trainyard: Run) -> None:
    page = (Path(__file__).parents[3] / "docs/validator/checks.md").read_text()
    Path(".trainyard.yaml").write_text(page.split("```yaml\n")[1].split("```")[0])
    code, out, _ = trainyard("rules", "--check")
    assert (code, out.splitlines()[0]) == (0, "ACME001 team-label-missing: 2 cases passed")
    assert "image-from-elsewhere" in trainyard("lint", "run.yaml")[1]


def test_the_manual_lists_every_value_of_the_model(trainyard: Run) -> None:
    page = (Path(__file__).parents[3] / "docs/validator/checks.md").read_text()
    cells = [row.split("|") for row in page.splitlines() if row.count("|") == 4]
    fields = {row[1].strip(" `"): set(row[3].split("`")[1::2]) for row in cells}
    for subject in ("run", "role", "pod", "container"):
        listed = f"{subject}.map(field, field).join(' ')"
        configure(changed(LABEL, subject=subject, expression="false", messageExpression=listed))
        words = trainyard("lint", "run.yaml")[1].partition("team-label-missing: ")[2].splitlines()[0]
        assert words
        assert set(words.split()) <= fields[subject]
