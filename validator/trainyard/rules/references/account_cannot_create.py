"""A workflow, a job or an experiment creates an object, and no role of its service account allows this.

A `resource` template of Argo, `kubectl create -f` in a pod, and Katib's controller for its trials create objects with
the rights of a service account. Without the right to create the kind, the API server answers "forbidden", and no pod
starts. Roles that list kinds lack those that came later, such as `jaxjobs` and `trainjobs`.

The rule knows the kinds of training jobs and the usual ones of Kubernetes. It applies if the files hold all roles of
the service account; for Katib, of the account `katib-controller`.

Add the resource to a role of the account.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import fitting
from trainyard.analysis.objects.rights import grants, roles_of
from trainyard.analysis.pods.mounts import mount_of
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container, Pod, Project, Resource

# Their resources are their names in lower case with an `s`.
_KINDS = frozenset((
    "ConfigMap", "CronJob", "DaemonSet", "Deployment", "Job", "JobSet", "JAXJob", "LeaderWorkerSet", "MPIJob",
    "PaddleJob", "PersistentVolumeClaim", "Pod", "PodGroup", "PyTorchJob", "RayCluster", "RayJob", "RayService",
    "Secret", "Service", "SparkApplication", "StatefulSet", "TFJob", "TrainJob", "TrainingRuntime", "Workflow",
    "XGBoostJob",
))  # fmt: skip
_VERBS = {"create": "create", "apply": "create", "delete": "delete", "patch": "patch", "get": "get"}
_VERSION = re.compile(r"(?m)^apiVersion:[ ]*[\"']?([\w./-]+)")
_KIND = re.compile(r"(?m)^kind:[ ]*[\"']?(\w+)")
_KATIB = "katib-controller"
_WORKFLOWS = ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow")


@rule(
    code="RF066",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/reference/access-authn-authz/rbac",
        "argo-workflows.readthedocs.io/en/latest/walk-through/kubernetes-resources",
        "kubeflow/katib v0.19.0 pkg/controller.v1beta1/trial: trial_controller.go, reconcileTrial",
        "github.com/kubeflow/trainer issue 2416, github.com/kubeflow/katib pull 2581",
    ),
    needs=("rbac.authorization.k8s.io",),
)
def account_cannot_create(project: Project) -> Iterator[Problem]:
    """Report objects that an account may not create."""
    for resource in project.of_kind(*_WORKFLOWS):
        yield from _of_workflow(resource, project)
    for resource in project.of_kind("Experiment"):
        tree, at = resource.tree, resource.at.child("spec", "trialTemplate", "trialSpec", "kind")
        made = mapping(tree, "spec", "trialTemplate", "trialSpec")
        yield from _missing(
            project, _KATIB, "", text(made, "apiVersion"), text(made, "kind"), "create", at, "Katib's controller"
        )
    for run in project.runs:
        for role in run.roles:
            account = text(role.pod.tree, "serviceAccountName")
            for container in role.pod.containers if account else ():
                for version, kind, at in _created(container, role.pod, run.namespace, project):
                    yield from _missing(
                        project, account, run.namespace, version, kind, "create", at, f"the account `{account}`"
                    )


def _of_workflow(resource: Resource, project: Project) -> Iterator[Problem]:
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    if resource.kind == "CronWorkflow":
        spec, at = mapping(spec, "workflowSpec"), at.child("workflowSpec")
    for index, template in enumerate(items(spec, "templates")):
        account = text(template, "serviceAccountName") or text(spec, "serviceAccountName")
        made, place = mapping(template, "resource"), at.child("templates", index, "resource", "action")
        verb, written = _VERBS.get(text(made, "action")), text(made, "manifest")
        version, kind = _VERSION.search(written), _KIND.search(written)
        if verb and account and "{{" not in account and version is not None and kind is not None:
            yield from _missing(
                project, account, resource.namespace, version[1], kind[1], verb, place, f"the account `{account}`"
            )


def _created(container: Container, pod: Pod, namespace: str, project: Project) -> Iterator[tuple[str, str, Place]]:
    """Yields the versions and kinds of objects in mounted files that the container gives to kubectl."""
    for command in container.commands:
        told = command.option_at("-f", "--filename") if command.program == "kubectl" else None
        if told is None or command.words[1:2] not in (("create",), ("apply",)):
            continue
        mount = mount_of(container, told[0])
        volume = pod.volume(mount.volume) if mount is not None else None
        if volume is None or volume.kind != "configMap" or "items" in volume.body:
            continue
        found = fitting(project, "ConfigMap", text(volume.body, "name"), namespace, volume.at)
        written = text(found[0].tree, "data", told[0].rpartition("/")[2]) if len(found) == 1 else ""
        for part in re.split(r"(?m)^---", written):
            version, kind = _VERSION.search(part), _KIND.search(part)
            if version is not None and kind is not None:
                yield version[1], kind[1], told[1]


def _missing(
    project: Project, account: str, namespace: str, version: str, kind: str, verb: str, at: Place, who: str
) -> Iterator[Problem]:
    if kind not in _KINDS or not version:
        return
    group, slash, _ = version.partition("/")
    group, name = group if slash else "", f"{kind.lower()}s"
    roles = roles_of(project, account, namespace)
    if roles and not any(grants(role, group, name, verb) for role in roles):
        written = group or '""'
        yield Problem(
            at,
            f"{who} may not {verb} a {kind}: no role of its account grants this",
            f"add `{name}` of the group {written} to a role",
            related=((roles[0].at.child("rules").key(), "a role of the account"),),
        )
