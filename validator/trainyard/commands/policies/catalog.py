"""All rules that are policies, and checks of the configuration that can be."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.checks.check import Check
from trainyard.commands.policies import jobs, networks, pods
from trainyard.commands.policies.expressions import literal
from trainyard.commands.policies.kinds import CREATE, SERVED, WRITE, Served
from trainyard.commands.policies.policy import Policy
from trainyard.document.errors import MistakeError
from trainyard.engine import links, registry
from trainyard.engine.rule import Rule


class PolicyError(MistakeError):
    """A check that cannot become a policy; `args[0]` gives the reason and the remedy."""


def of_rules() -> Iterator[Policy]:
    """Yields the policies of Trainyard's own rules."""
    for name, (kinds, variables, validations) in jobs.JOBS.items():
        yield _policy(name, kinds, validations)._replace(variables=variables)
    for name, validations in pods.PODS.items():
        yield _policy(name, pods.KINDS, validations)._replace(variables=pods.VARIABLES)
    for name, (kind, validations) in networks.NETWORKS.items():
        yield _policy(name, (kind,), validations)


def _policy(name: str, kinds: tuple[str, ...], validations: tuple[str, ...]) -> Policy:
    rule = registry.find_rule(name)
    if rule is None:
        raise LookupError(name)
    return Policy(name, tuple(SERVED[kind] for kind in kinds), validations, message(rule))


def message(rule: Rule) -> str:
    """Returns the message of a policy: the title of the rule's page, its code and its address."""
    title = registry.page(rule).split("\n", 1)[0].rstrip(".")
    return f"{title} ({rule.code} {rule.name}: {links.rule_url(rule)})"


def of_check(check: Check) -> Policy:
    """Returns the policy of a check over objects. Raises `PolicyError`."""
    if check.subject != "object":
        raise PolicyError(
            f"{check.where}: `{check.name}` cannot be a policy: an API server does not know the {check.subject} of "
            "Trainyard's model, but only `object`"
        )
    conditions = []
    if check.match.namespaces:
        names = literal(check.match.namespaces)
        expression = f"object.metadata.?namespace.orValue('default') in {names}"
        conditions.append({"name": "namespaces", "expression": expression})
    return Policy(
        check.name,
        tuple(_served(check)),
        (check.expression.strip(),),
        f"{check.message} ({check.code})",
        check.message_expression,
        conditions=tuple(conditions),
    )


def _served(check: Check) -> Iterator[Served]:
    for name in check.match.resources:
        plural, _, group = name.partition(".")
        yield Served(group, ("*",), plural, WRITE)
    for kind in check.match.kinds if not check.match.resources else ():
        name, _, group = kind.partition(".")
        known = SERVED.get(name)
        if known is None or (group and group != known.group):
            raise PolicyError(
                f"{check.where}.match: the resource of the kind `{kind}` is not known; write it into `resources`, "
                "such as `resources: [deployments.apps]`"
            )
        yield known._replace(versions=("*",), operations=CREATE if known.operations == CREATE else WRITE)
    if not check.match.resources and not check.match.kinds:
        raise PolicyError(f"{check.where}.match: a policy needs the `kinds` or `resources` that it judges")
