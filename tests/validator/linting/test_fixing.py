"""Fixes: safe ones by default, and never one that breaks a file or causes another finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.validator.cli.sample_runs import CLEAN, FAULTY
from tests.validator.rules import cases
from trainyard.document.document import Append, Edit, Place, Remove, SetValue
from trainyard.document.files import File
from trainyard.document.reading import read
from trainyard.document.source import Source
from trainyard.engine import registry, selection
from trainyard.engine.engine import MOST, Engine
from trainyard.engine.rule import Context, Problem, Rule, Safety, Target, rule
from trainyard.linting import fixing, pipeline
from trainyard.model.run import Run, Setting

WORD = selection.find_one("NC005")
FIELD = CLEAN[: CLEAN.index("            env:")]


def a_rule(code: str, wrong: str, new: str, fix: Safety = "safe") -> Rule:
    """Return a rule that finds variables with one value, and whose fix writes another value."""

    def check(setting: Setting, context: Context) -> Iterator[Problem]:
        if setting.value == wrong:
            yield Problem(setting.at, f"`{wrong}` is wrong", "", (SetValue(setting.at, new),))

    check.__name__ = f"no_{wrong}"
    return rule(code, "error", "high", "0.1.0", ("a test",), fix)(check)


def a_run_rule(*edits: Edit) -> Rule:
    """Return a rule that finds every run, with the same fix for all."""

    def check(run: Run, context: Context) -> Iterator[Problem]:
        yield Problem(run.at, "a run", "", edits or (Append(run.at.child("spec", "x"), 1),))

    return rule(code="ZZ009", severity="error", confidence="high", since="0.1.0", sources=("a test",), fix="safe")(
        check
    )


def run(*values: str) -> str:
    """Return a run with a variable for each value."""
    return (
        FIELD
        + "            env:\n"
        + "".join(f"            - {{name: V{n}, value: {v}}}  # {n}\n" for n, v in enumerate(values))
    )


def fix(text: str, *rules: Rule, unsafe: bool = False) -> tuple[str, list[str], list[str]]:
    """Return the text after fixing, the codes of corrected findings, and those of remaining findings."""
    fixed = fixing.fix([File(Source("run.yaml", text))], Engine(rules), unsafe=unsafe)
    left = [finding.rule.code for finding in fixed.left.findings]
    return fixed.after[0].source.text, [finding.rule.code for finding in fixed.corrected], left


def test_a_fix_is_applied() -> None:
    assert fix(FAULTY, WORD) == (CLEAN, ["NC005"], [])


def test_a_clean_file_is_not_changed() -> None:
    assert fix(run("a"), a_rule("ZZ001", "b", "c")) == (run("a"), [], [])


def test_an_unsafe_fix_is_applied_only_on_request() -> None:
    unsafe = a_rule("ZZ001", "a", "b", "unsafe")
    assert fix(run("a"), unsafe) == (run("a"), [], ["ZZ001"])
    assert fix(run("a"), unsafe, unsafe=True) == (run("b"), ["ZZ001"], [])


def test_a_fix_that_causes_another_finding_is_not_applied_but_others_are() -> None:
    rules = a_rule("ZZ001", "a", "b"), a_rule("ZZ002", "b", "b"), a_rule("ZZ003", "c", "d")
    assert fix(run("a", "c", "c", "e"), *rules) == (run("a", "d", "d", "e"), ["ZZ003", "ZZ003"], ["ZZ001"])


def test_a_fix_without_effect_is_not_applied() -> None:
    assert fix(run("a"), a_rule("ZZ001", "a", "a")) == (run("a"), [], ["ZZ001"])
    assert fix(run("a"), a_run_rule()) == (run("a"), [], ["ZZ009"])


def test_two_rules_with_opposite_fixes_terminate() -> None:
    text, _, left = fix(run("a"), a_rule("ZZ001", "a", "b"), a_rule("ZZ002", "b", "a"))
    assert text == run("a")
    assert left == ["ZZ001"]


def test_fixes_of_the_same_value_are_applied_one_after_the_other() -> None:
    first, second = a_rule("ZZ001", "a", "b"), a_rule("ZZ002", "a", "b")
    assert fix(run("a", "a"), first, second)[::2] == (run("b", "b"), [])


def test_a_fix_in_another_file_is_not_applied() -> None:
    other = Place(read(Source("other.yaml", "a: 1\n"))[0][0])
    assert fix(run("a"), a_run_rule(Remove(other.child("a")))) == (run("a"), [], ["ZZ009"])


def test_an_allowed_finding_is_not_fixed() -> None:
    text = FAULTY.replace('"no"', '"no"  # trainyard: allow NC005: words')
    assert fix(text, WORD) == (text, [], [])


def test_json_in_a_config_map_is_fixed() -> None:
    body = 'data:\n  ds.json: |\n    {"a": 1}\n'
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\n{body}---\n{FAULTY}"
    assert fix(text, WORD)[0] == text.replace('"no"', '"0"')


def test_values_of_the_chart_are_fixed_where_they_are_written() -> None:
    values = "nodes: 1\nprocessesPerNode: 1\nenv:\n  NCCL_SHM_DISABLE: 'no'  # why\n"
    text, corrected, left = fix(values, WORD)
    assert (text, corrected, left) == (values.replace("'no'", "'0'"), ["NC005"], [])


FIXABLE = [path for rule in registry.rules() if rule.fix is not None for path in cases.case_files(rule, "bad")]


@pytest.mark.parametrize("path", FIXABLE, ids=lambda path: str(path.name))
def test_no_fix_causes_findings_or_loses_comments_in_the_cases(path: Path) -> None:
    case = cases.load(path)
    engine = Engine(selection.select((), (), "auditor"), case.target, case.profile)
    files = [File(Source(path.name, case.text))]
    before = pipeline.lint(map(pipeline.read_file, files), engine)
    fixed = fixing.fix(files, engine, unsafe=True)
    text = fixed.after[0].source.text
    codes = [Counter(finding.rule.code for finding in report.findings) for report in (before, fixed.left)]
    assert codes[1] <= codes[0]
    gone = {finding.position.line for finding in fixed.corrected}
    kept = [line for number, line in enumerate(case.text.split("\n"), 1) if number not in gone and "#" in line]
    assert [line for line in kept if line not in text.split("\n")] == [], "other comments are preserved"


def test_the_number_of_rounds_is_limited() -> None:
    chain = [a_rule(f"ZZ{n:03}", f"v{n}", f"v{n + 1}") for n in range(30)]
    text, corrected, left = fix(run("v0"), *chain)
    assert (text, corrected, left) == (run("v0"), [], ["ZZ000"]), "each of them brings the next finding"


def test_more_fixes_than_findings_are_reported_of_a_rule_are_applied() -> None:
    count = MOST + 100
    text, corrected, left = fix(run(*["a"] * count), a_rule("ZZ001", "a", "b"), selection.find_one("HV011"))
    assert (text, len(corrected), left) == (run(*["b"] * count), count, [])


def test_fixes_that_no_lint_approves_end_at_a_limit_that_is_reported() -> None:
    text = run(*["a"] * 100, "c")
    rules = a_rule("ZZ001", "a", "a"), a_rule("ZZ002", "c", "d")
    fixed = fixing.fix([File(Source("run.yaml", text))], Engine(rules), most_lints=20)
    assert [finding.rule.code for finding in fixed.corrected] == ["ZZ002"], "others are tried first"
    assert len(fixed.left.findings) == 100
    (note,) = fixed.left.notes
    assert "fixes were not tried" in note


@pytest.mark.parametrize("tag", ["2.1.0-cuda11.8-cudnn8-runtime", "2.4.0-cuda12.1-cudnn9-runtime"])
def test_a_name_of_another_release_stays_unless_somebody_states_the_version(tag: str) -> None:
    """PyTorch 2.1 reads only the old name; the tag of 2.4 may be overridden when the container starts."""
    path = registry.folder() / "torch" / "cases" / "torch_nccl_legacy_env.image.bad.yaml"
    text = cases.load(path).text.replace("2.4.0-cuda12.1-cudnn9-runtime", tag)
    renamed = text.replace("name: NCCL_ASYNC", "name: TORCH_NCCL_ASYNC")
    assert f"pytorch:{tag}" in text

    def after(target: Target, *, unsafe: bool) -> str:
        engine = Engine((selection.find_one("TD001"),), target)
        return fixing.fix((File(Source("job.yaml", text)),), engine, unsafe=unsafe).after[0].source.text

    assert after(Target(), unsafe=False) == text
    assert after(Target(), unsafe=True) == (text if "2.1.0" in tag else renamed)
    assert after(Target(torch=(2, 8)), unsafe=False) == renamed
