"""The modules that are changed, and the tests that should find each change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from trainyard.engine import registry

CHECKPOINTS = tuple(
    f"tests/trainer/test_checkpoint_{topic}.py"
    for topic in (
        "lock",
        "alone",
        "manifest",
        "state",
        "directory",
        "publish",
        "resume",
        "unreadable",
        "forged",
        "corruption",
        "export",
        "staging",
        "faults",
        "ranks",
    )
)


class Target(NamedTuple):
    """Modules of one kind; `{family}` in the arguments of pytest is the first word of the name of the changed one."""

    modules: tuple[Path, ...]
    tests: tuple[str, ...]

    def arguments(self, module: Path) -> list[str]:
        """Returns the arguments of pytest for a change of this module."""
        return [argument.format(family=module.stem.partition("_")[0]) for argument in self.tests]


def targets() -> Iterator[Target]:
    """Yields the targets, which have equal shares of all changes."""
    rules = tuple(Path("validator", *rule.module.split(".")).with_suffix(".py") for rule in registry.rules())
    # Rules of one family have a first word in common: a rule that finds too much does so in the cases of the others.
    index, corpus = "test_the_index_describes_every_rule_as_its_file_does", "test_nothing_is_found_in_a_valid_manifest"
    tests = ("tests/validator/rules", "tests/validator/engine/test_registry.py")
    yield Target(rules, (*tests, "-k", f"{{family}}_ or {index} or {corpus}"))
    yield Target(
        _modules("validator/gotemplate"), ("tests/validator/gotemplate", "tests/validator/loaders/test_provenance.py")
    )
    yield Target(
        _modules("validator/trainyard/editing"), ("tests/validator/editing", "tests/validator/linting/test_fixing.py")
    )
    linting = tuple(Path("validator/trainyard/linting", f"{name}.py") for name in ("baseline", "config", "suppression"))
    topics = ("linting/test_baseline", "linting/test_config", "linting/test_suppression", "cli/test_cli")
    yield Target(linting, tuple(f"tests/validator/{name}.py" for name in topics))
    yield Target(_modules("trainer/checkpoint"), CHECKPOINTS)


def _modules(folder: str) -> tuple[Path, ...]:
    return tuple(sorted(Path(folder).rglob("*.py")))
