"""Resources of Kubernetes by their API groups, as Roles name them.

Source: kubernetes v1.34.4 api/discovery; kubernetes.io/docs/reference/access-authn-authz/kubelet-authn-authz (the
subresources of nodes) and /authentication (users and groups, which are impersonated).
"""

from __future__ import annotations

_STATUS = ("status",)
_SCALED = ("status", "scale")

GROUPS: dict[str, tuple[str, ...]] = {
    "": (
        "bindings", "componentstatuses", "configmaps", "endpoints", "events", "groups", "limitranges", "namespaces",
        "nodes", "persistentvolumeclaims", "persistentvolumes", "pods", "podtemplates", "replicationcontrollers",
        "resourcequotas", "secrets", "serviceaccounts", "services", "users",
    ),
    "apps": ("controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"),
    "batch": ("cronjobs", "jobs"),
    "rbac.authorization.k8s.io": ("clusterrolebindings", "clusterroles", "rolebindings", "roles"),
    "networking.k8s.io": ("ingressclasses", "ingresses", "ipaddresses", "networkpolicies", "servicecidrs"),
    "coordination.k8s.io": ("leasecandidates", "leases"),
}  # fmt: skip
SUBRESOURCES: dict[str, tuple[str, ...]] = {
    "pods": (
        "attach", "binding", "ephemeralcontainers", "eviction", "exec", "log", "portforward", "proxy", "resize",
        "status",
    ),
    "nodes": ("checkpoint", "configz", "healthz", "log", "metrics", "pods", "proxy", "spec", "stats", "status"),
    "services": ("proxy", "status"),
    "namespaces": ("finalize", "status"),
    "serviceaccounts": ("token",),
    "replicationcontrollers": _SCALED,
    "resourcequotas": _STATUS,
    "persistentvolumes": _STATUS,
    "persistentvolumeclaims": _STATUS,
    "deployments": _SCALED,
    "replicasets": _SCALED,
    "statefulsets": _SCALED,
    "daemonsets": _STATUS,
    "jobs": _STATUS,
    "cronjobs": _STATUS,
    "ingresses": _STATUS,
    "networkpolicies": _STATUS,
}  # fmt: skip

# Roles that every cluster has for users, and the label that adds the rules of another role to one of these.
# Source: kubernetes.io/docs/reference/access-authn-authz/rbac: user-facing roles, aggregated ClusterRoles.
USER_ROLES = ("cluster-admin", "admin", "edit", "view")
AGGREGATES = "rbac.authorization.k8s.io/aggregate-to-"
