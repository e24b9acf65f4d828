"""Rules and the problems that they report. One file holds one rule; see `validator/trainyard/rules`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from trainyard.document.document import Edit, Place
from trainyard.model.run import Container, Pod, Project, Role, Run
from trainyard.startup import NamedTuple

if TYPE_CHECKING:
    from trainyard.model.site import Site

Severity = Literal["error", "warning", "info"]
# The gravest first.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
Confidence = Literal["high", "medium", "low"]
Safety = Literal["safe", "unsafe"]


class Release(NamedTuple):
    """The version of a component in a container, None if unknown; `image` is the place of the image that tells it."""

    component: str
    version: tuple[int, ...] | None
    image: Place | None = None

    def __str__(self) -> str:
        # The last number is below zero before the release.
        return ".".join(str(number) for number in self.version or () if number >= 0)


class Problem(NamedTuple):
    """One fault that a rule found: the consequence (`message`), the remedy (`help`), and the fix.

    `related` are places that explain the fault, each with a few words. `rests_on` is the release without which there
    would be no such fault, or no such fix.
    """

    at: Place
    message: str
    help: str = ""
    edits: tuple[Edit, ...] = ()
    related: tuple[tuple[Place, str], ...] = ()
    rests_on: Release | None = None


class Target(NamedTuple):
    """Versions that the run will use, as tuples of integers; None if unknown: version-gated rules then report less."""

    nccl: tuple[int, ...] | None = None
    torch: tuple[int, ...] | None = None
    trainer: tuple[int, ...] | None = None
    kubernetes: tuple[int, ...] | None = None
    kueue: tuple[int, ...] | None = None


class Context(NamedTuple):
    """The context of the thing that a rule checks. Fields that do not apply are None.

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

    # `_replace` takes several times as long as each of these.
    def with_parameters(self, parameters: Any) -> Context:
        """Returns a copy for another rule."""
        return tuple.__new__(Context, (*self[:-1], parameters))

    def of_run(self, run: Run, profile: str | None) -> Context:
        """Returns a copy for a run and its fabric."""
        return Context(self.project, self.target, profile, self.site, run)

    def of_role(self, role: Role) -> Context:
        """Returns a copy for a role of the run and its pod."""
        return tuple.__new__(Context, (*self[:-4], role, role.pod, None, None))

    def of_container(self, container: Container) -> Context:
        """Returns a copy for a container of the pod."""
        return tuple.__new__(Context, (*self[:-2], container, None))


Check = Callable[..., Iterator[Problem]]
SUBJECTS = (
    "Setting", "Script", "Command", "Container", "Pod", "Role", "Run", "Workload", "Network", "DeepSpeed", "Resource",
    "Project",
    "Misfit", "Document", "ValuesDocument", "Reading", "Suppression", "Overflow",
)  # fmt: skip


class Rule(NamedTuple):
    """A rule and its metadata. `subject` names the type in the model that the check is called with.

    `of_profile` is true if the rule needs a fabric profile, `of_site` if it needs a site. `of_itself` is true if the
    check takes only the thing that it checks, and no context. `parameters` is True for a rule of the index that has
    some, which `registry.load_parameters` returns. `page` and `link` are those of a check of the configuration; the
    page of any other rule is the docstring of its module.
    """

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    since: str
    sources: tuple[str, ...]
    subject: str
    check: Check
    module: str
    fix: Safety | None = None
    inferred: bool = False
    parameters: Any = None
    needs: tuple[str, ...] = ()
    of_profile: bool = False
    of_itself: bool = False
    of_site: bool = False
    page: str = ""
    link: str = ""

    @property
    def persona(self) -> Literal["regular", "pedantic", "auditor"]:
        """The strictness at which the rule is on."""
        # The user has switched a check of the configuration on by writing it.
        if self.page:
            return "regular"
        if self.confidence == "low":
            return "auditor"
        if self.inferred or self.severity == "info" or self.confidence == "medium":
            return "pedantic"
        return "regular"


class Overflow(NamedTuple):
    """A rule reached its limit of findings in one file and is not called again; `at` is the place of the last one."""

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
    """Makes a rule of a check. Its name is the function's; its page is the module's docstring.

    The type of the check's first parameter decides its subject: the check is called once for each such thing in the
    files. A second parameter gets the context. `inferred` marks a fact that follows from code or documents and was not
    yet observed on the real component: the rule stays in `--pedantic`. `parameters` is an instance of a NamedTuple with
    the defaults. Every file with the fault contains one of the words in `needs`; for a rule on settings, the variable's
    name contains it. A file without them does not even import the rule. `of_profile` marks a rule that needs a fabric
    profile, `of_site` one that needs a site.
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
