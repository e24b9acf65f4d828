"""The roles of a controller grant nothing for a resource that it watches or creates, so it ends or does nothing.

A controller lists all objects that it is responsible for before it handles the first one. Without the right it logs
`forbidden: User "system:serviceaccount:..." cannot list resource "rayjobs"` again and again, and then ends. This
happens when the image is a newer release than the role, or when the role was written by hand.

The same holds for a flag such as `--gang-scheduler-name=volcano`: the controller then creates a PodGroup for each job,
and without the right to it starts no pods.

The rule knows the KubeRay operator, the controllers of JobSet and LeaderWorkerSet, the MPI operator, and the plugins
`Coscheduling` and `CapacityScheduling` of a scheduler, and the flags for gangs of these, of the training operator and
of Spark's operator. It applies if the files hold all roles of the service account.

Grant `get`, `list` and `watch` for the resource, or take the role of the release.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.scheduler_configurations import plugins_in
from trainyard.analysis.objects.rights import grants, names_group, roles_of
from trainyard.analysis.pods.mounted_files import mounted_text
from trainyard.document.document import Place
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.controller_rights import OF_PLUGINS, SWITCHES, Resource, Switch, watched_by
from trainyard.model.run import Container, Project
from trainyard.model.run import Resource as Role


@rule(
    code="RF048",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/jobs/controller_rights.py: the resources that each controller watches",
        "github.com/ray-project/kuberay issue 440",
        "github.com/kubernetes-sigs/scheduler-plugins issue 150",
        "github.com/kubeflow/spark-operator issue 1646",
    ),
    needs=("rbac.authorization.k8s.io",),
)
def controller_without_rights(container: Container, context: Context) -> Iterator[Problem]:
    """Report resources that a controller may not list."""
    title, watched = watched_by(container.image or "")
    if not watched:
        title, watched = _of_scheduler(container, context)
    asked = [(switch, at) for switch in SWITCHES if (at := _told(switch, container, context.project)) is not None]
    account = text(context.pod.tree, "serviceAccountName") if context.pod is not None else ""
    if not (watched or asked) or not account or context.run is None:
        return
    roles = roles_of(context.project, account, context.run.namespace)
    if not roles:
        return
    missing = [one for one in watched if not _may(roles, one, ("list", "watch"))]
    if missing:
        names = ", ".join(f"`{name}`" for _, name in missing)
        yield _problem(
            roles, missing[0], f"{title} has to list and watch {names}", (container.at.child("image"), title)
        )
    for switch, at in asked:
        if not _may(roles, switch.needed, ("create", "get")):
            told = f"{switch.title} has to create and read `{switch.needed[1]}` with --{switch.flag}"
            yield _problem(roles, switch.needed, told, (at, "the flag"))


def _may(roles: tuple[Role, ...], wanted: Resource, verbs: tuple[str, ...]) -> bool:
    return all(any(grants(role, *wanted, verb) for role in roles) for verb in verbs)


def _problem(roles: tuple[Role, ...], wanted: Resource, told: str, related: tuple[Place, str]) -> Problem:
    group, written = wanted[0], wanted[0] or '""'
    role = next((one for one in roles if names_group(one, group)), roles[0])
    return Problem(
        role.at.child("rules").key(),
        f"{told}, and no role of its account grants this",
        f"add a rule with `apiGroups: [{written}]`",
        related=(related,),
    )


def _told(switch: Switch, container: Container, project: Project) -> Place | None:
    """Returns the place of a flag that makes the controller create the resource; None if it does not."""
    if switch.image.search(container.image or "") is None:
        return None
    for field in ("command", "args"):
        for index, word in enumerate(getattr(container, field)):
            name, _, value = word.lstrip("-").partition("=")
            if word.startswith("-") and name == switch.flag and value in switch.values:
                return container.at.child(field, index) if _is_used(switch, project) else None
    return None


def _is_used(switch: Switch, project: Project) -> bool:
    if not switch.used_by:
        return True
    kind, field, value = switch.used_by
    return any(text(one.tree, "spec", field) == value for one in project.of_kind(kind))


def _of_scheduler(container: Container, context: Context) -> tuple[str, tuple[Resource, ...]]:
    """Returns the plugin of a scheduler that watches something, and what; nothing if the files do not show it."""
    words = (*container.command, *container.args)
    path = next((word.partition("=")[2] for word in words if word.startswith("--config=")), "")
    found = mounted_text(path, container, context) if path else None
    plugins = plugins_in(found[0], found[1]) if found is not None else frozenset()
    name = next((name for name in OF_PLUGINS if name in plugins), "")
    return (f"the plugin {name}", (OF_PLUGINS[name],)) if name else ("", ())
