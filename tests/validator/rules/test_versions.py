"""A version that is not given makes a rule say less, never more, and a version that nobody stated changes no file.

"Not given" stands for every release in use: what is found then is found for each of them, with the same fix.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from tests.validator.rules import cases
from trainyard.document.files import File
from trainyard.engine import registry
from trainyard.engine.engine import Engine
from trainyard.engine.finding import Finding
from trainyard.engine.rule import Rule, Target
from trainyard.facts import images
from trainyard.linting import pipeline

# Releases in use, around those that the rules know.
RELEASES: dict[str, tuple[tuple[int, ...], ...]] = {
    "nccl": (
        (2, 10), (2, 16, 2), (2, 18, 1), (2, 20, 5), (2, 21), (2, 22, 3), (2, 23, 4), (2, 24, 3), (2, 25, 1),
        (2, 26, 2), (2, 26, 5), (2, 27), (2, 29, 7), (2, 30, 4), (2, 30, 7), (2, 32, 3),
    ),
    "torch": ((1, 12), (2, 1, 2), (2, 2), (2, 5, 1), (2, 6), (2, 7, 1), (2, 8), (2, 9), (2, 10), (2, 15)),
    "trainer": ((1, 7), (1, 8, 1), (1, 9, 3), (2, 0), (2, 1), (2, 2), (2, 3)),
    "kubernetes": ((1, 27), (1, 34)),
    "kueue": ((0, 14), (0, 16, 9), (0, 17), (0, 19, 2)),
}  # fmt: skip
# The words by which a rule asks for a version; a feature gate is one of Kubernetes or of Kueue.
_GATES = "gates_of(project, context.target)"
_NODE = "kubernetes_of(context.project, resource, context.target)"
ASKS = {
    "nccl": ("versions.nccl(", "target.nccl"),
    "torch": ("versions.torch(", "target.torch"),
    "trainer": ("target.trainer",),
    "kubernetes": ("target.kubernetes", _GATES, _NODE),
    "kueue": ("target.kueue", _GATES),
}
Found = dict[tuple[int, int, str], tuple[Any, ...]]


@functools.cache
def _source(rule: Rule) -> str:
    return Path(registry.folder(), rule.module.split(".")[-2], f"{rule.module.split('.')[-1]}.py").read_text()


def _asked(rule: Rule) -> list[str]:
    return [name for name, words in ASKS.items() if any(word in _source(rule) for word in words)]


# Older releases serve what current ones have dropped.
OF_CURRENT = ("api-version-not-served",)
VERSIONED = [(rule, name) for rule in cases.every_rule() if rule.name not in OF_CURRENT for name in _asked(rule)]
each = pytest.mark.parametrize(
    ("rule", "name"), [pytest.param(*pair, id=f"{pair[0].name}-{pair[1]}") for pair in VERSIONED]
)


def _linted(case: cases.Case, rule: Rule, target: Target) -> list[Finding]:
    # A case is read anew: a finding must not depend on what another release has cached.
    reading = pipeline.read_file(File(case.source))
    return list(pipeline.lint([reading], Engine((rule,), target, case.profile, site=case.site)).findings)


def _places(findings: list[Finding]) -> Found:
    return {
        (found.position.line, found.position.column, found.rule.code): tuple(
            (type(edit).__name__, edit[0].path, *edit[1:]) for edit in found.edits
        )
        for found in findings
    }


def _cases(rule: Rule) -> list[cases.Case]:
    return [cases.load(path) for part in ("bad", "good") for path in cases.case_files(rule, part)]


def test_rules_ask_for_versions_only_in_the_ways_that_this_test_knows() -> None:
    for rule in cases.every_rule():
        asks = "context.target" in _source(rule) or "import versions" in _source(rule)
        assert asks == bool(_asked(rule)), rule.name


@each
def test_a_finding_without_a_version_is_one_for_every_release(
    rule: Rule, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "contents", lambda image: images.Contents())  # noqa: ARG005
    for case in _cases(rule):
        unknown = _places(_linted(case, rule, case.target._replace(**{name: None})))
        for release in RELEASES[name] if unknown else ():
            known = _places(_linted(case, rule, case.target._replace(**{name: release})))
            assert known.items() >= unknown.items(), (case.path.name, release)


@each
def test_a_fix_that_follows_from_an_image_alone_is_not_safe(
    rule: Rule, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name not in images.Contents._fields:
        pytest.skip("images do not tell this version")
    told = images.Contents()
    monkeypatch.setattr(images, "contents", lambda image: told)  # noqa: ARG005
    for case in _cases(rule):
        target = case.target._replace(**{name: None})
        told = images.Contents()
        unknown = _places(_linted(case, rule, target))
        for release in RELEASES[name] if "image: " in case.text else ():
            told = images.Contents()._replace(**{name: release})
            for found in _linted(case, rule, target):
                is_new = not _places([found]).items() <= unknown.items()
                assert is_new == found.is_from_image or rule.fix is None, (case.path.name, release, found.message)
                assert not (is_new and found.fix == "safe")
