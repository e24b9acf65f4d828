"""Findings that a user allows, with a reason: by comment, annotation and configuration."""

from __future__ import annotations

import pytest

from tests.validator.cli.sample_runs import CLEAN, FAULTY
from trainyard.document.document import Place
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.document.text import Text
from trainyard.engine import registry
from trainyard.engine.engine import Engine
from trainyard.linting import pipeline
from trainyard.linting.config import _files
from trainyard.linting.report import Report
from trainyard.linting.suppression import Allowance

LINE = '              value: "no"'


def lint(text: str, *allowances: Allowance, codes: tuple[str, ...] = ("NC005", "HV006", "HV008")) -> Report:
    rules = tuple(rule for rule in registry.rules() if rule.code in codes)
    return pipeline.lint([pipeline.read_file(File(Source("k8s/run.yaml", text)))], Engine(rules), allowances)


def found(report: Report) -> list[str]:
    return [finding.rule.code for finding in report.findings]


@pytest.mark.parametrize("name", ["nccl-word-boolean", "NC005", "nc005"])
@pytest.mark.parametrize("place", ["behind", "above", "far above"])
def test_a_comment_allows_a_rule_at_its_line(name: str, place: str) -> None:
    comment = f"# trainyard: allow {name}: our wrapper reads words"
    new = {
        "behind": f"{LINE}  {comment}",
        "above": f"              {comment}\n{LINE}",
        "far above": f"{comment}\n\n              # and more\n{LINE}",
    }[place]
    report = lint(FAULTY.replace(LINE, new))
    assert found(report) == []
    assert [reason for _, reason in report.allowed] == ["our wrapper reads words"]


@pytest.mark.parametrize("line", ["metadata:", "  name: llm", "            - name: NCCL_SHM_DISABLE"])
def test_a_comment_at_another_line_allows_nothing(line: str) -> None:
    text = FAULTY.replace(f"{line}\n", f"{line}  # trainyard: allow NC005: here only\n")
    assert found(lint(text)) == ["HV006", "NC005"]


def test_a_comment_in_a_script_applies_to_its_line() -> None:
    margin = "\n            "
    script = margin.join(("command: [sh, -c]", "args:", "- |", "  export NCCL_IB_DISABLE=no{}", "env:"))
    text = CLEAN.replace("env:", script)
    assert found(lint(text.format(""))) == ["NC005"]
    assert found(lint(text.format("  # trainyard: allow NC005: as above"))) == []


def test_several_rules_are_allowed_by_one_comment() -> None:
    report = lint(FAULTY.replace(LINE, f"{LINE}  # trainyard: allow NC005: one; not enough; HV009: two"))
    assert [reason for _, reason in report.allowed] == ["one; not enough"]
    assert found(report) == [], "HV009 is off, so it is unknown if its suppression is needed"


def test_an_annotation_of_a_job_applies_to_the_whole_job_and_nothing_else() -> None:
    annotated = FAULTY.replace(
        "  name: llm\n", '  name: llm\n  annotations: {trainyard/allow: "NC005: our wrapper reads words"}\n'
    )
    assert found(lint(annotated)) == []
    assert found(lint(f"{annotated}---\n{FAULTY}")) == ["NC005"]


def test_an_annotation_of_a_pod_template_applies_to_the_pod() -> None:
    metadata = "      template:\n        metadata:\n          annotations:\n            trainyard/allow: NC005: words\n"
    assert found(lint(FAULTY.replace("      template:\n", metadata.replace("NC005: words", '"NC005: words"')))) == []


def test_a_suppression_without_a_reason_works_and_is_reported() -> None:
    assert found(lint(FAULTY.replace(LINE, f"{LINE}  # trainyard: allow NC005"))) == ["HV008"]


def test_an_unused_suppression_is_reported_only_when_its_rule_was_on() -> None:
    text = CLEAN.replace("  name: llm\n", "  name: llm  # trainyard: allow NC005: words\n")
    assert found(lint(text)) == ["HV006"]
    assert found(lint(text, codes=("HV006", "HV008"))) == []


def test_a_misspelt_rule_name_is_reported_with_a_suggestion() -> None:
    report = lint(FAULTY.replace(LINE, f"{LINE}  # trainyard: allow nccl-word-bolean: words"), codes=("HV006",))
    assert report.findings[0].help == "did you mean `nccl-word-boolean`?"


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("k8s/run.yaml", True),
        ("run.yaml", True),
        ("*.yaml", True),
        ("k8s/", True),
        ("./k8s", True),
        ("*", True),
        ("other/run.yaml", False),
        ("un.yaml", False),
        ("*.json", False),
    ],
)
def test_the_configuration_allows_a_rule_in_some_files(pattern: str, fits: bool) -> None:
    at = Place(Text(Source(".trainyard.yaml", "")))
    report = lint(FAULTY, Allowance("NC005", _files(pattern), "words", at))
    assert found(report) == ([] if fits else ["NC005"])


@pytest.mark.parametrize(("folder", "expected"), [(None, []), ("k8s", []), (".", ["HV006"]), ("..", ["HV006"])])
def test_an_entry_of_the_configuration_is_unused_only_if_the_whole_project_was_linted(
    folder: str | None, expected: list[str]
) -> None:
    rules = tuple(rule for rule in registry.rules() if rule.code in ("NC005", "HV006"))
    allowance = Allowance("NC005", _files("*"), "words", Place(Text(Source(".trainyard.yaml", ""))))
    reading = pipeline.read_file(File(Source("k8s/run.yaml", CLEAN), folder=folder))
    assert found(pipeline.lint([reading], Engine(rules), [allowance])) == expected


def test_other_comments_are_not_suppressions() -> None:
    for comment in ("# trainyard allows NC005: x", "# trainyard: allowed NC005", "# see trainyard: NC005"):
        assert found(lint(FAULTY.replace(LINE, f"{LINE}  {comment}"))) == ["NC005"]
