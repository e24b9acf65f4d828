"""A policy: a rule as expressions over one object, and the manifests that an API server takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from trainyard.commands.policies.kinds import Served, resource_rules

API = "admissionregistration.k8s.io/v1"
# Pods that a controller creates were judged as a part of its object.
BY_A_USER = {"name": "written-by-a-user", "expression": "!has(object.metadata.ownerReferences)"}


class Policy(NamedTuple):
    """A policy for one rule. Each validation is an expression that is true for a correct object.

    `variables` are expressions that the validations name, in the order in which they are evaluated.
    `message_expression` returns a message with values in place of `message`.
    """

    rule: str
    served: tuple[Served, ...]
    validations: tuple[str, ...]
    message: str
    message_expression: str = ""
    variables: Mapping[str, str] = {}
    conditions: tuple[Mapping[str, str], ...] = ()


class Options(NamedTuple):
    """The user's options: the prefix of names, the actions, and the namespaces in which policies hold."""

    prefix: str = "trainyard-"
    actions: tuple[str, ...] = ("Deny",)
    labels: Mapping[str, str] = {}
    except_namespaces: tuple[str, ...] = ()


def manifests(policy: Policy, options: Options) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the policy and its binding."""
    name = f"{options.prefix}{policy.rule}"
    validations = [
        {"expression": expression, "message": policy.message, "reason": "Invalid"} for expression in policy.validations
    ]
    if policy.message_expression:
        validations = [{**one, "messageExpression": policy.message_expression} for one in validations]
    spec: dict[str, Any] = {
        # An expression that fails says nothing about the object.
        "failurePolicy": "Ignore",
        "matchConstraints": {"resourceRules": resource_rules([*policy.served])},
        "matchConditions": [BY_A_USER, *map(dict, policy.conditions)],
        "variables": [{"name": name, "expression": text} for name, text in policy.variables.items()],
        "validations": validations,
    }
    if not spec["variables"]:
        del spec["variables"]
    binding: dict[str, Any] = {"policyName": name, "validationActions": [*options.actions]}
    selector = _selector(options)
    if selector:
        binding["matchResources"] = {"namespaceSelector": selector}
    return (
        {"apiVersion": API, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name}, "spec": spec},
        {"apiVersion": API, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name}, "spec": binding},
    )


def _selector(options: Options) -> dict[str, Any]:
    selector: dict[str, Any] = {}
    if options.labels:
        selector["matchLabels"] = dict(options.labels)
    if options.except_namespaces:
        key = "kubernetes.io/metadata.name"
        selector["matchExpressions"] = [{"key": key, "operator": "NotIn", "values": [*options.except_namespaces]}]
    return selector
