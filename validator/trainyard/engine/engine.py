"""Runs rules over a project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from trainyard.document.document import Document, EmbeddedDocument, TextDocument
from trainyard.document.placeholders import is_parameter
from trainyard.document.source import distinct_lines
from trainyard.engine import registry
from trainyard.engine.finding import Finding, resolve
from trainyard.engine.rule import Check, Context, Overflow, Problem, Rule, Target
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS
from trainyard.model.run import Container, Project, Role, Run, Setting
from trainyard.startup import pattern

if TYPE_CHECKING:
    from trainyard.model.site import Site

Found = Iterator[tuple[Rule, Problem]]
# A rule with its check, a flag for checks that take no context, and its parameters.
_Entry = tuple[Rule, Check, bool, Any]

# Maximum findings of one rule in one file: nobody reads more, and some rules would take seconds to find them.
MOST = 500
# Lines of earlier files that are remembered.
_MOST_LINES = 10_000
# Fixes are compared by the number of findings, which is larger than the limit in few files.
_MOST_FOR_FIXES = 50_000
_DIGITS = pattern("[0-9]+")
# Kinds whose pods are what their template says, and nothing that is written elsewhere.
_ALIKE = frozenset((*REPLICA_FIELDS, "JobSet"))
# The fields in which two roles with equal pods differ.
_OWN = ("name", "replicas", "tree", "at")


class Engine:
    """A set of rules with their parameters, ready to check any number of projects.

    `checks` are the rules of the configuration, also those that are off: suppressions may name them.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        target: Target | None = None,
        profile: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        site: Site | None = None,
        checks: Sequence[Rule] = (),
    ) -> None:
        self.rules = rules
        self.site = site
        self.checks = checks
        self._most = MOST
        self._target = target or Target()
        self._profile = profile
        self._parameters = parameters or {}
        self._needs = frozenset(need for rule in rules if rule.subject != "Setting" for need in rule.needs)
        self._judges: dict[tuple[frozenset[str], bool], _Judge] = {}
        self._words = _Words(self._needs)

    def for_fixes(self) -> Engine:
        """Returns an engine that finds practically all faults: a fix must reduce them."""
        engine = Engine(self.rules, self._target, self._profile, self._parameters, self.site, self.checks)
        engine._most = _MOST_FOR_FIXES
        return engine

    def with_rules(self, codes: Set[str]) -> Engine:
        """Returns an engine with those rules of this one that have these codes."""
        rules = [rule for rule in self.rules if rule.code in codes]
        engine = Engine(rules, self._target, self._profile, self._parameters, self.site)
        engine._most = self._most
        return engine

    @property
    def fingerprint(self) -> str:
        """Everything that findings depend on beside the files."""
        site = self.site.document.source.text if self.site is not None else None
        # The page of a check holds its expression, its message and what it matches.
        rules = sorted((rule.code, rule.severity, rule.page) for rule in self.rules)
        checks = [check.name for check in self.checks]
        return repr((rules, checks, self._target, self._profile, self._parameters, site))

    def judge(self, project: Project) -> list[Finding]:
        """Returns all findings, in the order of the files' text."""
        context = self._context(project)
        judge = self._judge_with(self._words.of(project), profiled=context.profile is not None or _profiled(project))
        found = judge.project(project, context)
        if project.misfits:
            found = _without_repetitions(list(found))
        # What a workflow writes for a parameter is not known.
        findings = [resolve(rule, problem) for rule, problem in found if not is_parameter(problem.at)]
        # Containers that share a ConfigMap or an anchor lead to the same line more than once.
        # The first finding at a place wins: it is at the anchor, and an edit cannot be made at an alias.
        distinct = {(finding.order, finding.message): finding for finding in reversed(findings)}
        return sorted(distinct.values(), key=lambda finding: finding.order)

    def examine(self, things: Iterable[Any], project: Project) -> list[Finding]:
        """Returns findings about objects outside the model: readings of files, and suppressions."""
        judge = self._judge_with(self._needs, profiled=False)
        context = self._context(project)
        return [resolve(*found) for thing in things for found in judge.apply(type(thing).__name__, thing, context)]

    def _context(self, project: Project) -> Context:
        profile = self._profile or (self.site.profile if self.site is not None else None)
        return Context(project, self._target, profile, self.site)

    def _judge_with(self, words: frozenset[str], *, profiled: bool) -> _Judge:
        judge = self._judges.get((words, profiled))
        if judge is None:
            asked = (
                rule for rule in self.rules if (profiled or not rule.of_profile) and (self.site or not rule.of_site)
            )
            applicable = [rule for rule in asked if _may_speak(rule, words)]
            judge = self._judges[words, profiled] = _Judge(
                applicable, self._parameters, self._most, named=self._profile is not None
            )
        judge.begin()
        return judge


def _without_repetitions(found: Sequence[tuple[Rule, Problem]]) -> Found:
    """Yields the problems without those of a schema where another rule knows more about the same place."""
    places = {(id(problem.at.document), problem.at.path) for rule, problem in found if rule.subject != "Misfit"}
    for rule, problem in found:
        if rule.subject != "Misfit" or (id(problem.at.document), problem.at.path) not in places:
            yield rule, problem


def _profiled(project: Project) -> bool:
    """True if values among the documents name a fabric themselves."""
    return any(_own_profile(run) is not None for run in project.runs)


def _own_profile(run: Run) -> str | None:
    """Returns the fabric that a run's values name; None for a run that does not come from values."""
    return run.at.document.profile


def _may_speak(rule: Rule, words: frozenset[str]) -> bool:
    """True if a rule may apply to files with these words. Rules on settings are chosen for each variable."""
    return not rule.needs or rule.subject == "Setting" or bool(words.intersection(rule.needs))


class _Words:
    """The needed words that occur in files. The lines of the last files are known: jobs have most of them in common."""

    def __init__(self, needs: frozenset[str]) -> None:
        self._needs = needs
        # Lines that differ in numbers alone have the same words, except for the words with a number.
        self._numbered = [need for need in needs if _DIGITS.search(need)]
        self._others = sorted(needs.difference(self._numbered))
        self._known: dict[str, tuple[str, ...]] = {}
        self._shapes: dict[str, tuple[str, ...]] = {}
        # The known lines without any word, which are most of them.
        self._silent: set[str] = set()

    def of(self, project: Project) -> frozenset[str]:
        """Returns the words that occur in a project; all of them if objects are rendered from a chart."""
        if any(type(document) not in (Document, EmbeddedDocument, TextDocument) for document in project.documents):
            return self._needs
        sources = project.sources
        known, silent = self._known, self._silent
        if len(known) + len(silent) > _MOST_LINES:
            known.clear()
            silent.clear()
            self._shapes.clear()
        first, *others = map(distinct_lines, sources) if sources else (frozenset[str](),)
        lines = first.union(*others) - silent if others else first - silent
        new = lines.difference(known)
        if len(new) > _MOST_LINES:
            text = "\n".join(new)
            # A thousand numbered lines are one without their numbers.
            shapes = "\n".join(set(_DIGITS.sub("0", text).split("\n")))
            found = frozenset(need for need in self._others if need in shapes)
            found |= frozenset(need for need in self._numbered if need in text)
            return found.union(*map(known.__getitem__, lines - new))
        if new:
            self._learn(new)
            lines -= silent
        return frozenset().union(*map(known.__getitem__, lines))

    def _learn(self, new: frozenset[str]) -> None:
        """Finds the words in new lines: of a job, mostly lines with a number of its own."""
        lines = list(new)
        text = "\n".join(lines)
        shapes = _DIGITS.sub("0", text).split("\n")
        unknown = set(shapes).difference(self._shapes)
        if unknown:
            joined = "\n".join(unknown)
            found = [need for need in self._others if need in joined]
            self._shapes.update((shape, tuple([need for need in found if need in shape])) for shape in unknown)
        numbered = [need for need in self._numbered if need in text]
        for line, shape in zip(lines, shapes, strict=True):
            words = self._shapes[shape]
            if numbered:
                words += tuple([need for need in numbered if need in line])
            if words:
                self._known[line] = words
            else:
                self._silent.add(line)


class _Judge:
    """The rules that may find anything, by the type that they check.

    Counts the findings of each rule in each file. `named` is true if the user has named the fabric of all runs.
    """

    def __init__(self, rules: Sequence[Rule], parameters: Mapping[str, Any], most: int, *, named: bool) -> None:
        self._parameters = parameters
        self._most = most
        self._named = named
        self._by_subject: dict[str, list[Rule]] = {}
        for rule in rules:
            self._by_subject.setdefault(rule.subject, []).append(rule)
        self._by_need: dict[str, list[Rule]] = {}
        for rule in self._by_subject.get("Setting", ()):
            for need in rule.needs or ("",):
                self._by_need.setdefault(need, []).append(rule)
        self._ready: dict[str, Sequence[_Entry]] = {}
        self._ready_by_name: dict[str, Sequence[_Entry]] = {}
        self._ready_by_needs: dict[tuple[str, ...], Sequence[_Entry]] = {}
        # The rules that need more than the variable itself, for each value in which no rule found anything.
        self._clean: dict[tuple[str, str | None, type, str], Sequence[_Entry]] = {}
        # The rules that have asked what two roles with equal pods differ in; a check of the configuration may.
        self._of_role = {rule.code for rule in rules if rule.page or (rule.of_itself and rule.subject == "Role")}
        self._ready_of_role: dict[int, tuple[int, Sequence[_Entry], Sequence[_Entry]]] = {}
        self._asked = ""
        self._watching = type("WatchedRole", (Role,), {name: self._watched(name) for name in _OWN})
        self.begin()

    def begin(self) -> None:
        """Resets the counters for other files."""
        if len(self._clean) > _MOST_LINES:
            self._clean.clear()
            self._ready_of_role.clear()
        self._places: dict[tuple[str, str], set[Any]] = {}
        self._done: dict[str | None, set[str]] = {}
        # The rules of `_ready` and `_ready_by_name` without those that are done, with the number of these.
        self._left: dict[tuple[int, str | None], tuple[int, Sequence[_Entry]]] = {}

    def project(self, project: Project, context: Context) -> Found:
        """Applies the rules to everything in the files."""
        yield from self.apply("Project", project, context)
        for document in project.documents:
            yield from self.apply("Document", document, context)
            if type(document) is not Document:
                yield from self.apply(type(document).__name__, document, context)
        for misfit in project.misfits:
            yield from self.apply("Misfit", misfit, context)
        for resource in project.resources:
            yield from self.apply("Resource", resource, context)
        for network in project.networks:
            yield from self.apply("Network", network, context)
        for deepspeed in project.deepspeeds:
            yield from self.apply("DeepSpeed", deepspeed, context._replace(run=deepspeed.run))
        for run in project.runs:
            profile = context.profile if self._named else _own_profile(run) or context.profile
            yield from self._run(run, context.of_run(run, profile))

    def _run(self, run: Run, context: Context) -> Found:
        if run.is_job:
            yield from self.apply("Run", run, context)
        yield from self.apply("Workload", run, context)
        has_twins = len(run.roles) > 1 and not context.project.misfits and run.kind in _ALIKE
        clean: Role | None = None
        for role in run.roles:
            if not has_twins:
                yield from self._role(run, role, context)
            elif clean is not None and _is_alike(role, clean):
                yield from self._role(run, role, context, is_twin=True)
            else:
                found = list(self._role(run, tuple.__new__(self._watching, role), context))
                yield from found
                clean = clean if found else role

    def _watched(self, name: str) -> property:
        """Returns a field of a role that remembers which rules asked for it."""
        index = Role._fields.index(name)

        def get(role: Role) -> Any:
            self._of_role.add(self._asked)
            return tuple.__getitem__(role, index)

        return property(get)

    def _role(self, run: Run, role: Role, context: Context, *, is_twin: bool = False) -> Found:
        """Applies the rules for a role, its pod and the parts of this.

        A rule finds nothing in a twin of a role in which it has found nothing, unless it asks for what they differ in.
        """
        inner = context.of_role(role)
        if run.is_job:
            yield from self.apply("Role", role, inner, is_twin=is_twin)
        pod = role.pod
        yield from self.apply("Pod", pod, inner, is_twin=is_twin)
        for container in (*pod.containers, *pod.init_containers):
            yield from self._container(container, inner.of_container(container), is_twin=is_twin)

    def _container(self, container: Container, context: Context, *, is_twin: bool) -> Found:
        yield from self.apply("Container", container, context, is_twin=is_twin)
        for setting in container.settings:
            yield from self._setting(setting, context, is_twin=is_twin)
        for script in container.scripts:
            yield from self.apply("Script", script, context, is_twin=is_twin)
        for command in container.commands:
            yield from self.apply("Command", command, context, is_twin=is_twin)

    def _setting(self, setting: Setting, context: Context, *, is_twin: bool) -> Found:
        """Applies the rules for a variable. Those that look at nothing else know its value from another pod."""
        written = (setting.name, setting.value, setting.raw.__class__, setting.via)
        entries = self._clean.get(written)
        if entries is not None:
            yield from self._ask(entries, setting, context, is_twin=is_twin)
            return
        entries = self._for_setting(setting.name)
        found = list(self._ask(entries, setting, context, is_twin=is_twin))
        yield from found
        if not found and setting.value is not None:
            self._clean[written] = [entry for entry in entries if not entry[0].of_itself]

    def apply(self, subject: str, thing: Any, context: Context, *, is_twin: bool = False) -> Found:
        """Applies the rules for a subject to a thing."""
        entries = self._ready.get(subject)
        if entries is None:
            entries = self._ready[subject] = self._entries(self._by_subject.get(subject, ()))
        return self._ask(entries, thing, context, is_twin=is_twin)

    def _for_setting(self, name: str) -> Sequence[_Entry]:
        """Returns the rules for a variable: most of them know a few by name."""
        entries = self._ready_by_name.get(name)
        if entries is None:
            heard = tuple([need for need in self._by_need if need in name])
            entries = self._ready_by_name[name] = self._for_needs(heard)
        return entries

    def _for_needs(self, heard: tuple[str, ...]) -> Sequence[_Entry]:
        """Returns the rules with one of these needs; thousands of names have the same needs."""
        entries = self._ready_by_needs.get(heard)
        if entries is None:
            # A rule with two needs is in two lists.
            rules = {rule.code: rule for need in heard for rule in self._by_need[need]}
            entries = self._ready_by_needs[heard] = self._entries(rules.values())
        return entries

    def _entries(self, rules: Iterable[Rule]) -> Sequence[_Entry]:
        return [(rule, registry.load_check(rule.check), rule.of_itself, self._parameters_of(rule)) for rule in rules]

    def _parameters_of(self, rule: Rule) -> Any:
        return self._parameters.get(rule.code) or registry.load_parameters(rule)

    def _ask(self, entries: Sequence[_Entry], thing: Any, context: Context, *, is_twin: bool = False) -> Found:
        if is_twin:
            entries = self._of_twin(entries)
        if self._done:
            entries = self._not_done(entries, _file(thing))
        for rule, check, of_itself, parameters in entries:
            if of_itself:
                problems = check(thing)
            else:
                self._asked = rule.code
                problems = check(thing, context if parameters is None else context.with_parameters(parameters))
            for problem in problems:
                times = self._count(rule, problem)
                if times <= self._most:
                    yield rule, problem
                if times == self._most:
                    file = problem.at.document.source.name
                    self._done.setdefault(file, set()).add(rule.code)
                    yield from self.apply("Overflow", Overflow(rule, times, problem.at), context)
                    if file == _file(thing):
                        break

    def _of_twin(self, entries: Sequence[_Entry]) -> Sequence[_Entry]:
        """Returns the rules that must be asked about a twin too."""
        known = self._ready_of_role.get(id(entries))
        if known is None or known[0] != len(self._of_role) or known[1] is not entries:
            left = [entry for entry in entries if entry[0].code in self._of_role]
            known = self._ready_of_role[id(entries)] = len(self._of_role), entries, left
        return known[2]

    def _not_done(self, entries: Sequence[_Entry], file: str | None) -> Sequence[_Entry]:
        """Returns the rules that have not reached their limit in a file."""
        done = self._done.get(file)
        if not done:
            return entries
        known = self._left.get((id(entries), file))
        if known is None or known[0] != len(done):
            known = len(done), [entry for entry in entries if entry[0].code not in done]
            self._left[id(entries), file] = known
        return known[1]

    def _count(self, rule: Rule, problem: Problem) -> int:
        """Returns the number of known faults of the rule in the file; containers that share a ConfigMap repeat some."""
        at = problem.at
        places = self._places.setdefault((rule.code, at.document.source.name), set())
        places.add((at.document.index, at.path, at.line, problem.message))
        return len(places)


def _is_alike(role: Role, other: Role) -> bool:
    """True if two roles of a run differ in `_OWN` alone. All values fit their types: in Python, `1` equals `true`."""
    pod, twin = role.pod, other.pod
    return (
        pod.tree == twin.tree
        and pod.labels == twin.labels
        and pod.annotations == twin.annotations
        and (role.main, role.trains, role.restart_policy) == (other.main, other.trains, other.restart_policy)
    )


def _file(thing: Any) -> str | None:
    """Returns the name of the file that a thing is in; None if it is in several."""
    at = getattr(thing, "at", None)
    return None if at is None else at.document.source.name
