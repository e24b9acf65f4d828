"""Findings that a user allows, with a reason: by comment, annotation and configuration."""

from __future__ import annotations

import pytest

from tests.validator.cli.sample_runs import CLEAN, FAULTY
from trainyard.document.document import Place, Remove
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.document.text import Text
from trainyard.engine import registry
from trainyard.engine.engine import Engine
from trainyard.linting import pipeline
from trainyard.linting.config import _files
from trainyard.linting.report import Report
from trainyard.linting.suppression import Allowance, collect, cut

LINE = '              value: "no"'


UNUSED = CLEAN.replace("metadata:\n", "metadata:\n  annotations:\n    trainyard/allow: {!r}\n")


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


def test_a_comment_behind_the_last_line_of_a_value_allows_a_rule() -> None:
    text = FAULTY.replace(LINE, '              value: "n\\\n                o"')
    assert found(lint(text)) == ["NC005"]
    assert found(lint(text.replace('o"\n', 'o"  # trainyard: allow NC005: our wrapper reads words\n'))) == []


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


def test_an_annotation_applies_to_every_line_of_its_job() -> None:
    annotated = UNUSED.replace("{!r}", "'NC005: our wrapper reads words'")
    more = "env:\n            - name: NCCL_SHM_DISABLE\n              value: 'no'\n"
    assert found(lint(annotated)) == ["HV006"]
    assert found(lint(annotated.replace("env:\n", more))) == []


def test_an_annotation_of_a_pod_template_applies_to_the_pod() -> None:
    metadata = "      template:\n        metadata:\n          annotations:\n            trainyard/allow: NC005: words\n"
    assert found(lint(FAULTY.replace("      template:\n", metadata.replace("NC005: words", '"NC005: words"')))) == []


def test_the_first_of_two_comments_gives_the_reason() -> None:
    comment = "# trainyard: allow NC005:"
    report = lint(FAULTY.replace(LINE, f"              {comment} one\n{LINE}  {comment} two"))
    assert [reason for _, reason in report.allowed] == ["one"]


def test_a_suppression_without_a_reason_works_and_is_reported() -> None:
    assert found(lint(FAULTY.replace(LINE, f"{LINE}  # trainyard: allow NC005"))) == ["HV008"]


def test_an_unused_suppression_is_reported_only_when_its_rule_was_on() -> None:
    text = CLEAN.replace("  name: llm\n", "  name: llm  # trainyard: allow NC005: words\n")
    assert found(lint(text)) == ["HV006"]
    assert found(lint(text, codes=("HV006", "HV008"))) == []


def test_a_misspelt_rule_name_is_reported_with_a_suggestion() -> None:
    report = lint(FAULTY.replace(LINE, f"{LINE}  # trainyard: allow nccl-word-bolean: words"), codes=("HV006",))
    assert report.findings[0].help == "did you mean `nccl-word-boolean`?"


def test_only_the_first_of_many_misspelt_names_get_a_suggestion() -> None:
    many = "; ".join(["nccl-word-bolean: words"] * 21)
    entries = collect([pipeline.read_file(File(Source("run.yaml", f"# trainyard: allow {many}\n")))], (), (), [])
    assert [entry.suggestion for entry in entries] == ["did you mean `nccl-word-boolean`?"] * 20 + [""]


def test_suppressions_beyond_the_limit_of_a_file_are_reported() -> None:
    for count, notes in ((999, []), (1000, ["run.yaml: only the first 1,000 suppressions of a file count"])):
        text = f"# trainyard: allow {'; '.join(['NC005: words'] * count)}\n"
        entries = collect([pipeline.read_file(File(Source("run.yaml", text)))], (), (), [])
        assert list(cut(entries)) == notes


@pytest.mark.parametrize(
    "text",
    [CLEAN + "# trainyard: allow {}\n", UNUSED],
    ids=["comment", "annotation"],
)
def test_an_unused_suppression_is_removed_unless_it_shares_its_place_with_another(text: str) -> None:
    (alone,) = lint(text.replace("{}", "NC005: words").replace("{!r}", "'NC005: words'")).findings
    assert [type(edit) for edit in alone.edits] == [Remove]
    both = lint(text.replace("{}", "NC005: one; NC005: two").replace("{!r}", "'NC005: one; NC005: two'")).findings
    assert [finding.edits for finding in both] == [(), ()]


def test_a_comment_above_a_value_of_several_lines_allows_a_rule() -> None:
    value = '              value: "n\\\n                o\\\n                "'
    text = FAULTY.replace(LINE, f"              # trainyard: allow NC005: our wrapper reads words\n{value}")
    assert found(lint(text)) == []


@pytest.mark.parametrize("names", [("a.yaml", "b.yaml"), ("b.yaml", "a.yaml")])
@pytest.mark.parametrize(
    ("line", "more"),
    [
        (LINE, f"{LINE}  # trainyard: allow NC005: words"),
        ("metadata:\n", "metadata:\n  annotations: {trainyard/allow: 'NC005: words'}\n"),
    ],
    ids=["comment", "annotation"],
)
def test_a_suppression_allows_nothing_in_another_file(names: tuple[str, str], line: str, more: str) -> None:
    texts = (FAULTY.replace(line, more), FAULTY.replace("name: llm", "name: other"))
    readings = [pipeline.read_file(File(Source(name, text))) for name, text in zip(names, texts, strict=True)]
    rules = tuple(rule for rule in registry.rules() if rule.code == "NC005")
    report = pipeline.lint(readings, Engine(rules))
    assert [finding.position.source.name for finding in report.findings] == [names[1]]


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
