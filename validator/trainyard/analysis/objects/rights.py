"""The rights of a service account, as far as the files show all of its roles.

Source: kubernetes.io/docs/reference/access-authn-authz/rbac.
"""

from __future__ import annotations

from typing import Any

from trainyard.document.lookup import items, mapping, text
from trainyard.model.run import Project, Resource

_BINDINGS = ("ClusterRoleBinding", "RoleBinding")
# Roles of Kubernetes itself, which grant nothing for resources of other projects.
_OF_KUBERNETES = "system:"
_OF_ALL_ACCOUNTS = "system:serviceaccounts"


def roles_of(project: Project, account: str, namespace: str) -> tuple[Resource, ...]:
    """Returns the roles of a service account that the files define; none if it may have others."""
    found: list[Resource] = []
    for binding in project.of_kind(*_BINDINGS):
        subjects = items(binding.tree, "subjects")
        if any(text(subject, "name").startswith(_OF_ALL_ACCOUNTS) for subject in subjects):
            return ()
        if any(_is_account(subject, account, namespace) for subject in subjects):
            name, kind = text(binding.tree, "roleRef", "name"), text(binding.tree, "roleRef", "kind")
            roles = [role for role in project.of_kind(kind) if role.name == name]
            if len(roles) == 1 and "aggregationRule" not in roles[0].tree:
                found += roles
            elif roles or not name.startswith(_OF_KUBERNETES):
                return ()
    return tuple(found)


def grants(role: Resource, group: str, resource: str, verb: str) -> bool:
    """True if a role has a right."""
    return any(_has(rule, group, resource, verb) for rule in items(role.tree, "rules"))


def names_group(role: Resource, group: str) -> bool:
    """True if a rule of the role is about an API group."""
    return any(group in items(rule, "apiGroups") for rule in items(role.tree, "rules"))


def _has(rule: Any, group: str, resource: str, verb: str) -> bool:
    asked = (("apiGroups", group), ("resources", resource), ("verbs", verb))
    return all(value in (given := items(rule, field)) or "*" in given for field, value in asked)


def _is_account(subject: Any, account: str, namespace: str) -> bool:
    home = text(mapping(subject), "namespace")
    named = text(subject, "kind") == "ServiceAccount" and text(subject, "name") == account
    return named and (not home or not namespace or home == namespace)
