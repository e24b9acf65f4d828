"""Output formats: the exact text where programs parse it, and no injection from hostile files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.cluster import modules
from tests.validator.cli.sample_runs import CLEAN, FAULTY
from trainyard import reporters
from trainyard.document.files import File
from trainyard.document.source import Position, Source
from trainyard.engine import registry, selection
from trainyard.engine.engine import Engine
from trainyard.engine.finding import Finding
from trainyard.linting import pipeline
from trainyard.linting.fingerprint import fingerprints
from trainyard.linting.report import Report
from trainyard.reporters import json_schema
from trainyard.reporters.text import MAX_WIDTH

RULE = selection.find_one("NC005")
RULES = (RULE, *(rule for rule in registry.rules() if rule.subject == "Reading"))
HOSTILE = "a: %,\r\n]]> <b> & \x1b[31m\x00\x07\udc80 \N{ZERO WIDTH JOINER} 'quoted\" ::error::x"


def report(*texts: str, name: str = "k8s/run {}.yaml") -> Report:
    files = (File(Source(name.format(number), text)) for number, text in enumerate(texts))
    return pipeline.lint(map(pipeline.read_file, files), Engine(RULES))


def hostile(text: str = HOSTILE) -> Report:
    """Return a report in which every part from a file is hostile."""
    source = Source(f"k8s/{text}.yaml".replace("\0", ""), f"kind: {text}\n")
    position = Position(source, 1, 7, 1, 9)
    finding = Finding(RULE, position, text, text, (), ((position, text),))
    return report(CLEAN)._replace(findings=(finding,), allowed=((finding, text),))


def rendered(name: str, known: Report, **style: bool) -> str:
    return reporters.render(name, known, (RULE,), reporters.Style(**style))


KINDS = {"clean": report(CLEAN), "bad": report(FAULTY, FAULTY, "a: ["), "hostile": hostile()}
each = pytest.mark.parametrize("known", KINDS.values(), ids=KINDS)


@each
def test_json_is_valid_by_its_schema(known: Report) -> None:
    jsonschema.validate(json.loads(rendered("json", known)), json_schema.report_schema())


def test_json_has_the_place_and_all_fields_of_a_finding() -> None:
    (finding,) = json.loads(rendered("json", report(FAULTY)))["findings"]
    assert finding == {
        "rule": "NC005",
        "name": "nccl-word-boolean",
        "url": "https://trainyard.example/rules/nccl-word-boolean/",
        "severity": "error",
        "confidence": "high",
        "message": "NCCL parses NCCL_SHM_DISABLE as an integer, so `no` means 0",
        "help": 'write "0"',
        "fix": "safe",
        "fingerprint": next(mark for _, mark in fingerprints(report(FAULTY).findings)),
        "location": {"path": "k8s/run 0.yaml", "line": 17, "column": 22, "end_line": 17, "end_column": 26},
        "related": [],
    }


@pytest.fixture(scope="module")
def sarif_schema() -> jsonschema.Draft4Validator:
    """The JSON Schema that OASIS publishes for SARIF 2.1.0, from the test data of another linter."""
    module = modules.source("sarif", "github.com/securego/gosec/v2")
    schema = json.loads((module / "report/sarif/testdata/sarif-schema-2.1.0.json").read_text())
    return jsonschema.Draft4Validator(schema)


@each
def test_sarif_is_valid_by_its_schema(known: Report, sarif_schema: jsonschema.Draft4Validator) -> None:
    sarif_schema.validate(json.loads(rendered("sarif", known)))


@each
def test_sarif_has_places_that_code_hosts_accept(known: Report) -> None:
    (run,) = json.loads(rendered("sarif", known))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert result["message"]["text"]
        assert result["level"] in ("error", "warning", "note")
        assert "ruleIndex" not in result or rules[result["ruleIndex"]]["id"] == result["ruleId"]
        for location in (*result["locations"], *result.get("relatedLocations", ())):
            place = location["physicalLocation"]
            assert re.fullmatch(r"[\w\-.~%/]+", place["artifactLocation"]["uri"], re.ASCII), "a URI, not a path"
            region = place["region"]
            assert 1 <= region["startLine"] <= region["endLine"]
            assert region["startColumn"] >= 1
            assert region["endColumn"] >= 1
    suppressed = [result for result in run["results"] if "suppressions" in result]
    assert len(suppressed) == len(known.allowed)


def test_sarif_lists_only_rules_that_occurred_each_with_a_link_and_one_help_text() -> None:
    (run,) = json.loads(reporters.render("sarif", report(FAULTY), registry.rules(), reporters.Style()))["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == "NC005"
    assert rule["helpUri"] == "https://trainyard.example/rules/nccl-word-boolean/"
    assert list(rule["help"]) == ["text"]


def test_a_link_leads_to_the_site_that_the_user_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINYARD_DOCS_URL", "https://docs.example.org/trainyard/")
    (finding,) = json.loads(rendered("json", report(FAULTY)))["findings"]
    assert finding["url"] == "https://docs.example.org/trainyard/rules/nccl-word-boolean/"


def test_the_name_of_a_rule_is_a_hyperlink_on_a_terminal() -> None:
    link = "\033]8;;https://trainyard.example/rules/nccl-word-boolean/\033\\nccl-word-boolean\033]8;;\033\\"
    assert link in rendered("text", report(FAULTY), color=True, links=True)
    assert "\033]8" not in rendered("text", report(FAULTY), color=True)


@pytest.mark.parametrize("name", ["FORCE_COLOR", "CLICOLOR_FORCE"])
def test_colours_can_be_forced_where_there_is_no_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for other in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "1")
    assert reporters.wants_color("auto", on_terminal=False)
    assert not reporters.wants_color("never", on_terminal=False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not reporters.wants_color("auto", on_terminal=True)


def test_junit_has_a_suite_for_each_file_and_a_failure_for_each_finding() -> None:
    root = ET.fromstring(rendered("junit", report(FAULTY, CLEAN)))  # noqa: S314 - written here
    assert {key: root.get(key) for key in ("tests", "failures")} == {"tests": "2", "failures": "1"}
    assert [suite.get("name") for suite in root] == ["k8s/run 0.yaml", "k8s/run 1.yaml"]
    assert [len(suite.findall("testcase/failure")) for suite in root] == [1, 0]


def test_github_gets_a_workflow_command_for_each_finding() -> None:
    assert rendered("github", report(FAULTY, name="k8s/a,b:{}.yaml")) == (
        "::error file=k8s/a%2Cb%3A0.yaml,line=17,col=22,endLine=17,endColumn=26,title=NC005 nccl-word-boolean"
        '::NCCL parses NCCL_SHM_DISABLE as an integer, so `no` means 0%0Awrite "0"\n'
    )


def test_gitlab_gets_a_violation_for_each_finding() -> None:
    (violation,) = json.loads(rendered("gitlab", report(FAULTY)))
    assert violation["location"] == {"path": "k8s/run 0.yaml", "lines": {"begin": 17}}
    assert violation["check_name"] == "nccl-word-boolean"
    assert violation["severity"] == "major"
    assert re.fullmatch("[0-9a-f]{32}", violation["fingerprint"])


def test_fingerprints_survive_moved_lines_and_distinguish_equal_findings() -> None:
    twice = FAULTY + "            - name: NCCL_SHM_DISABLE\n" + '              value: "no"\n'

    def marks(text: str) -> list[str]:
        return [mark for finding, mark in fingerprints(report(text).findings) if finding.rule is RULE]

    assert marks(f"# moved\n\n{FAULTY}") == marks(FAULTY) == marks(FAULTY.replace('value: "no"', 'value:   "no"'))
    assert len(set(marks(twice))) == 2
    assert marks(FAULTY.replace('"no"', '"off"')) != marks(FAULTY)


def test_text_output_has_no_control_characters_from_hostile_files() -> None:
    text = rendered("text", hostile())
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]", text)
    assert "\\x1b[31m" in text


def test_many_findings_with_one_message_are_shown_once_with_all_places() -> None:
    """Copies of one mistake hide the others; the numbers of the summary and other formats count each."""
    many = report(FAULTY, FAULTY, FAULTY, FAULTY, FAULTY, FAULTY, "a: [")
    text = rendered("text", many)
    assert len(re.findall(r"^k8s/run .*: error", text, re.MULTILINE)) == 2
    assert re.search(r"= note: 5 more with this message, in these lines:\n +=   k8s/run 1\.yaml:\d+\n", text)
    assert f"Found {len(many.findings)} errors" in text
    assert len(json.loads(rendered("json", many))["findings"]) == len(many.findings) == 7
    few = rendered("text", report(FAULTY, FAULTY, FAULTY, FAULTY, FAULTY))
    assert (few.count(": error "), "more with" in few) == (5, False)


@given(st.text(max_size=300), st.integers(1, 300), st.integers(0, 300))
def test_the_caret_stands_below_the_fault(line: str, column: int, length: int) -> None:
    position = Position(Source("run.yaml", line), 1, column, 1, column + length)
    known = report(CLEAN)._replace(findings=(Finding(RULE, position, "fault", "", (), ()),))
    shown = rendered("text", known).split("\n")
    if "   |" not in shown[1:2] and len(shown) < 6:
        return
    words, carets = shown[2].partition(" | ")[2], shown[3].partition(" | ")[2]
    assert carets.strip("^ ") == ""
    assert len(words) <= 4 * MAX_WIDTH + 6, "escapes take four characters"


def test_a_line_of_megabytes_is_shortened_around_the_fault() -> None:
    text = FAULTY.replace("name: llm", f"name: llm  # {'x' * 10**6}").replace('"no"', f'"no"  # {"y" * 10**6}')
    shown = rendered("text", report(text))
    assert max(map(len, shown.split("\n"))) < 2 * MAX_WIDTH
    assert 'value: "no"' in shown


def test_wide_characters_take_two_columns() -> None:
    position = Position(Source("run.yaml", "名前: no"), 1, 5, 1, 7)
    known = report(CLEAN)._replace(findings=(Finding(RULE, position, "fault", "", (), ()),))
    assert rendered("text", known).split("\n")[3] == "  | " + " " * 6 + "^^"


def test_colours_are_for_terminals_unless_disabled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    assert reporters.wants_color("auto", on_terminal=True)
    assert not reporters.wants_color("auto", on_terminal=False)
    monkeypatch.setenv("TERM", "dumb")
    assert not reporters.wants_color("auto", on_terminal=True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not reporters.wants_color("auto", on_terminal=True)
    assert reporters.wants_color("always", on_terminal=True)


def test_every_format_ends_with_a_newline_and_is_utf_8(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("text", "json", "sarif", "junit", "github", "gitlab"):
        text = rendered(name, report(FAULTY))
        assert text.encode().endswith(b"\n")


def test_related_places_and_help_are_shown_below_the_line() -> None:
    source = Source("run.yaml", "a: 1\nb: 2\n")
    finding = Finding(
        RULE,
        Position(source, 2, 1, 2, 2),
        "b is wrong",
        "write c",
        (),
        ((Position(source, 1, 1, 1, 2), "because of a"),),
    )
    assert rendered("text", report(CLEAN)._replace(findings=(finding,))).startswith(
        "run.yaml:2:1: error NC005 nccl-word-boolean: b is wrong\n"
        "  |\n"
        "2 | b: 2\n"
        "  | ^\n"
        "  = note: because of a: run.yaml:1:1\n"
        "  = help: write c\n"
    )


def test_the_committed_schema_describes_the_output() -> None:
    committed = Path(__file__).parents[3] / "schemas/finding.schema.json"
    assert json.loads(committed.read_text()) == json_schema.report_schema()


def test_the_word_is_underlined_and_not_the_whole_script_on_one_line() -> None:
    script = "cd /work; export NCCL_NVLS_ENABLE=no; torchrun train.py"
    text = f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: short}}
spec: {{template: {{spec: {{containers: [{{name: a, image: a, command: [bash, -c, "{script}"]}}]}}}}}}
"""
    shown = rendered("text", report(text)).split("\n")
    carets = next(line for line in shown if "^" in line)
    assert carets.count("^") == len("NCCL_NVLS_ENABLE=no")
    assert shown[shown.index(carets) - 1][carets.index("^") :].startswith("NCCL_NVLS_ENABLE=no")
