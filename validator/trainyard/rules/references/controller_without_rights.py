"""The roles of a controller grant nothing for a resource that it watches from its start, so it ends or does nothing.

A controller lists all objects that it is responsible for before it handles the first one. Without the right it logs
`forbidden: User "system:serviceaccount:..." cannot list resource "rayjobs"` again and again, and then ends. This
happens when the image is a newer release than the role, or when the role was written by hand.

The rule knows the KubeRay operator, the controllers of JobSet and LeaderWorkerSet, the MPI operator, and the plugins
`Coscheduling` and `CapacityScheduling` of a scheduler. It applies if the files hold all roles of the service account.

Grant `get`, `list` and `watch` for the resource, or take the role of the release.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.scheduler_configurations import plugins_in
from trainyard.analysis.objects.rights import grants, names_group, roles_of
from trainyard.analysis.pods.mounted_files import mounted_text
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.controller_rights import OF_PLUGINS, Resource, watched_by
from trainyard.model.run import Container


@rule(
    code="RF048",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/jobs/controller_rights.py: the resources that each controller watches",
        "github.com/ray-project/kuberay issue 440",
        "github.com/kubernetes-sigs/scheduler-plugins issue 150",
    ),
    needs=("rbac.authorization.k8s.io",),
)
def controller_without_rights(container: Container, context: Context) -> Iterator[Problem]:
    """Report resources that a controller may not list."""
    title, watched = watched_by(container.image or "")
    if not watched:
        title, watched = _of_scheduler(container, context)
    account = text(context.pod.tree, "serviceAccountName") if context.pod is not None else ""
    if not watched or not account or context.run is None:
        return
    roles = roles_of(context.project, account, context.run.namespace)
    if not roles:
        return
    missing = [
        (group, name)
        for group, name in watched
        if not all(any(grants(role, group, name, verb) for role in roles) for verb in ("list", "watch"))
    ]
    if missing:
        group = missing[0][0]
        written = group or '""'
        role = next((one for one in roles if names_group(one, group)), roles[0])
        names = ", ".join(f"`{name}`" for _, name in missing)
        yield Problem(
            role.at.child("rules").key(),
            f"{title} has to list and watch {names}, and no role of its account grants this",
            f"add a rule with `apiGroups: [{written}]`",
            related=((container.at.child("image"), title),),
        )


def _of_scheduler(container: Container, context: Context) -> tuple[str, tuple[Resource, ...]]:
    """Returns the plugin of a scheduler that watches something, and what; nothing if the files do not show it."""
    words = (*container.command, *container.args)
    path = next((word.partition("=")[2] for word in words if word.startswith("--config=")), "")
    found = mounted_text(path, container, context) if path else None
    plugins = plugins_in(found[0], found[1]) if found is not None else frozenset()
    name = next((name for name in OF_PLUGINS if name in plugins), "")
    return (f"the plugin {name}", (OF_PLUGINS[name],)) if name else ("", ())
