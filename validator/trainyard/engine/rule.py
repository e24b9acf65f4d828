"""What a rule is, and what it may say. One file holds one rule; see `validator/rules`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from validator.model import Container, Pod, Project, Role, Run
from validator.source import Place

if TYPE_CHECKING:
    from validator.site import Site

Severity = Literal["error", "warning", "info"]
Confidence = Literal["high", "medium", "low"]
Safety = Literal["safe", "unsafe"]


class SetValue(NamedTuple):
    """Edit: the scalar at this place gets another value; its quotes stay."""

    at: Place
    value: Any


class Add(NamedTuple):
    """Edit: the mapping at this place gets a field; mappings that are not there yet come with it."""

    at: Place
    key: str
    value: Any


class Append(NamedTuple):
    """Edit: the list at this place gets an item; a list that is not there yet comes with it."""

    at: Place
    value: Any


class Remove(NamedTuple):
    """Edit: the field or item at this place goes."""

    at: Place


class Rename(NamedTuple):
    """Edit: the key at this place gets another name."""

    at: Place
    key: str


class Substitute(NamedTuple):
    """Edit: in the text at this place (a line of a script, or a scalar) the first `old` becomes `new`."""

    at: Place
    old: str
    new: str


Edit = SetValue | Add | Append | Remove | Rename | Substitute


class Problem(NamedTuple):
    """One fault that a rule found: what goes wrong (`message`), what to write instead (`help`), and how to fix it.

    `related` are places that explain the fault, each with a few words.
    """

    at: Place
    message: str
    help: str = ""
    edits: tuple[Edit, ...] = ()
    related: tuple[tuple[Place, str], ...] = ()


class Target(NamedTuple):
    """Versions that the run will meet, as tuples of integers; None when unknown: then version-gated rules say less."""

    nccl: tuple[int, ...] | None = None
    torch: tuple[int, ...] | None = None
    trainer: tuple[int, ...] | None = None
    kubernetes: tuple[int, ...] | None = None


class Context(NamedTuple):
    """What surrounds the thing that a rule looks at. Fields that do not apply are None.

    `profile` is the fabric that the user names, that of the run's values, or that of the site, in this order.
    `parameters` is the rule's own NamedTuple, with the values from the user's configuration.
    """

    project: Project
    target: Target
    profile: str | None
    site: Site | None = None
    run: Run | None = None
    role: Role | None = None
    pod: Pod | None = None
    container: Container | None = None
    parameters: Any = None

    def with_parameters(self, parameters: Any) -> Context:
        """The same for another rule; `_replace` takes twice as long."""
        return Context._make((*self[:-1], parameters))


Check = Callable[..., Iterator[Problem]]
SUBJECTS = (
    "Setting", "Script", "Command", "Container", "Pod", "Role", "Run", "Network", "DeepSpeed", "Resource", "Project",
    "Document", "ValuesDocument", "Reading", "Suppression", "Overflow",
)  # fmt: skip


class Rule(NamedTuple):
    """A rule and what is said of it. `subject` names the type in the model that the check is called with.

    `of_profile` and `of_site` are whether it has no say without a fabric profile, or without a site. `of_itself` is
    whether the check takes nothing but the thing that it looks at, and no context.
    """

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    since: str
    sources: tuple[str, ...]
    fix: Safety | None
    inferred: bool
    parameters: Any
    subject: str
    check: Check
    module: str
    needs: tuple[str, ...] = ()
    of_profile: bool = False
    of_itself: bool = False
    of_site: bool = False

    @property
    def persona(self) -> Literal["regular", "pedantic", "auditor"]:
        """The strictness from which the rule is on."""
        if self.confidence == "low":
            return "auditor"
        if self.inferred or self.severity == "info" or self.confidence == "medium":
            return "pedantic"
        return "regular"


class Overflow(NamedTuple):
    """A rule that has found so many faults in one file that it is asked no more; `at` is the place of the last one."""

    rule: Rule
    times: int
    at: Place


def rule(
    code: str,
    severity: Severity,
    confidence: Confidence,
    since: str,
    sources: Sequence[str],
    fix: Safety | None = None,
    *,
    inferred: bool = False,
    parameters: Any = None,
    needs: Sequence[str] = (),
    of_profile: bool = False,
    of_site: bool = False,
) -> Callable[[Check], Rule]:
    """Make a rule of a check. Its name is the function's; its page the module's docstring.

    The type of the check's first parameter says what it is called with, once for each such thing in the files; a second
    parameter gets the context.
    `inferred` marks a fact that follows from code or documents and was not yet seen on the real component: the rule
    stays in `--pedantic`. `parameters` is an instance of a NamedTuple with the defaults. `needs` are words of which one
    stands in every file with the fault, and for a rule on settings in the variable's name: where none does, the rule is
    not even imported. `of_profile` says that the rule has no say without a fabric profile, `of_site` without a site.
    """

    def decorate(check: Check) -> Rule:
        subject = next(iter(check.__annotations__.values()))
        return Rule(
            code=code,
            name=check.__name__.replace("_", "-"),
            severity=severity,
            confidence=confidence,
            since=since,
            sources=tuple(sources),
            fix=fix,
            inferred=inferred,
            parameters=parameters,
            subject=subject,
            check=check,
            module=check.__module__,
            needs=tuple(needs),
            of_profile=of_profile,
            of_itself=check.__code__.co_argcount == 1,
            of_site=of_site,
        )

    return decorate
