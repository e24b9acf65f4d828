"""The rights of a service account, as far as the files show all of its roles.

Source: kubernetes.io/docs/reference/access-authn-authz/rbac.
"""

from __future__ import annotations

from typing import Any

from trainyard.document.lookup import items, mapping, text
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource
from trainyard.startup import NamedTuple

# Roles of Kubernetes itself, which grant nothing for resources of other projects.
_OF_KUBERNETES = "system:"
_OF_ALL_ACCOUNTS = "system:serviceaccounts"


class _Index(NamedTuple):
    """Bindings by the names of their accounts, and roles by their kind and name."""

    bindings: dict[str, list[Resource]]
    roles: dict[tuple[str, str], list[Resource]]


def roles_of(project: Project, account: str, namespace: str) -> tuple[Resource, ...]:
    """Returns the roles of a service account that the files define; none if it may have others."""
    index, found = _index.of(project), list[Resource]()
    if _OF_ALL_ACCOUNTS in index.bindings:
        return ()
    for binding in index.bindings.get(account, ()):
        if any(_is_account(subject, account, namespace) for subject in items(binding.tree, "subjects")):
            name, kind = text(binding.tree, "roleRef", "name"), text(binding.tree, "roleRef", "kind")
            roles = index.roles.get((kind, name), [])
            if len(roles) == 1 and "aggregationRule" not in roles[0].tree:
                found += roles
            elif roles or not name.startswith(_OF_KUBERNETES):
                return ()
    return tuple(found)


def _make_index(project: Project) -> _Index:
    index = _Index({}, {})
    for binding in project.of_kind("ClusterRoleBinding", "RoleBinding"):
        for name in {text(subject, "name") for subject in items(binding.tree, "subjects")}:
            key = _OF_ALL_ACCOUNTS if name.startswith(_OF_ALL_ACCOUNTS) else name
            index.bindings.setdefault(key, []).append(binding)
    for role in project.of_kind("ClusterRole", "Role"):
        index.roles.setdefault((role.kind, role.name), []).append(role)
    return index


_index: LastIndex[Project, _Index] = LastIndex(_make_index)


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
