"""Judges objects by policies without an API server, with the CEL library of the checks."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.validator.rules import cases
from trainyard.checks.expressions import Expression
from trainyard.commands.policies import catalog
from trainyard.commands.policies.kinds import SERVED
from trainyard.commands.policies.policy import BY_A_USER, Policy
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.engine import registry
from trainyard.linting import pipeline

POLICIES = {policy.rule: policy for policy in catalog.of_rules()}
# Bad cases that a policy does not refuse, and why. It must refuse at least one, and never a good one.
OUT_OF_REACH = {
    "pytorchjob_role_invalid.first.bad": "whether the operator needs the field depends on its version",
    "pytorchjob_role_invalid.unset.bad": "whether the operator needs the field depends on its version",
    "nccl_value_out_of_range.fewer_ctas.bad": "the range depends on the version of NCCL",
    "nccl_ib_timeout_infinite.bad": "the variable is set in a script",
    "nccl_level_case_or_unknown.mpirun.bad": "the variable is an argument of mpirun",
    "nccl_word_boolean.prterun.bad": "the variable is an argument of prterun",
}


@functools.cache
def _compiled(text: str, result: str) -> Expression:
    return Expression(text, ("object", "variables"), result)


def refuses(policy: Policy, tree: dict[str, Any]) -> bool:
    """Return true if a policy refuses an object, which it may not match at all."""
    if not _matches(policy, tree):
        return False
    data: dict[str, Any] = {"object": tree, "variables": {}}
    conditions = (BY_A_USER, *policy.conditions)
    if not all(_compiled(one["expression"], "bool").evaluate(data) for one in conditions):
        return False
    for name, text in policy.variables.items():
        data["variables"][name] = _compiled(text, "dyn").evaluate(data)
    return not all(_compiled(text, "bool").evaluate(data) for text in policy.validations)


def _matches(policy: Policy, tree: dict[str, Any]) -> bool:
    served = SERVED.get(str(tree.get("kind")))
    group, _, version = str(tree.get("apiVersion")).rpartition("/")
    return (
        served is not None
        and group == served.group
        and any(
            one.plural == served.plural and (version in one.versions or "*" in one.versions) for one in policy.served
        )
    )


def case_files(policy: Policy) -> Iterator[Path]:
    """Yield the case files of a policy's rule."""
    rule = registry.find_rule(policy.rule)
    assert rule is not None
    for part in ("bad", "good", "fixed"):
        yield from cases.case_files(rule, part)


def objects(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a case file as an API server reads them: a null field does not exist."""
    text = cases.load(path).text
    documents = pipeline.read_file(File(Source(path.name, text))).documents
    return [_without_null(document.tree) for document in documents if isinstance(document.tree, dict)]


def _without_null(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _without_null(value) for key, value in tree.items() if value is not None}
    if isinstance(tree, list):
        return [_without_null(value) for value in tree if value is not None]
    return tree
