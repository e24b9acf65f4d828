"""A binding gives a role to a service account of a namespace in which the files have no such account.

Kubernetes takes any subject. The pods run with the account of their own namespace, which the binding does not name, and
get `forbidden: User "system:serviceaccount:NAMESPACE:NAME" cannot ...`. This happens when the namespace is changed in
the account and not in the binding, or when `namespace: system` of a scaffold is left in a file that no kustomization
changes.

The rule compares a binding with the accounts of its own file. It says nothing if one of them lacks a namespace, if the
file has no account of the name, if another file has the one that the binding names, or if a binding also names the
account of the file. Every namespace has an account `default`.

Write the namespace of the account.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items, text
from trainyard.document.source import Source
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource


@rule(
    code="RF039",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/reference/access-authn-authz/rbac: referring to subjects",
        "github.com/trustyai-explainability/trustyai-service-operator pull 918",
    ),
    needs=("RoleBinding",),
)
def role_of_another_account(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report subjects whose namespace is not that of the account of this name."""
    if resource.kind not in ("RoleBinding", "ClusterRoleBinding"):
        return
    source = resource.at.document.source
    accounts, bound = _accounts.of(context.project), _bound.of(context.project)
    for index, subject in enumerate(items(resource.tree, "subjects")):
        name, namespace = text(subject, "name"), text(subject, "namespace")
        if text(subject, "kind") != "ServiceAccount" or not namespace or name == "default":
            continue
        homes = accounts.get((name, source), set())
        if not homes or accounts[name, None] & {"", namespace} or any((name, home) in bound for home in homes):
            continue
        if "{" in namespace or "$" in namespace:
            continue
        home = sorted(homes)[0]
        yield Problem(
            resource.at.child("subjects", index, "namespace"),
            f"the account `{name}` is in the namespace `{home}`, and the role goes to one in `{namespace}`",
            f"write `namespace: {home}`",
        )


def _by_name(project: Project) -> dict[tuple[str, Source | None], set[str]]:
    """Returns the namespaces of the accounts of a name, in each file and, with None, in all."""
    found: dict[tuple[str, Source | None], set[str]] = {}
    for account in project.of_kind("ServiceAccount"):
        for source in (account.at.document.source, None):
            found.setdefault((account.name, source), set()).add(account.namespace)
    return found


def _subjects(project: Project) -> frozenset[tuple[str, str]]:
    """Returns the name and the namespace of each subject that has a role."""
    return frozenset(
        (text(subject, "name"), text(subject, "namespace"))
        for binding in project.of_kind("RoleBinding", "ClusterRoleBinding")
        for subject in items(binding.tree, "subjects")
    )


_accounts = LastIndex(_by_name)
_bound = LastIndex(_subjects)
