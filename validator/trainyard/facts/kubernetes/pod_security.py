"""The levels of the Pod Security Standards.

Source: kubernetes v1.37.2 staging/src/k8s.io/pod-security-admission/policy, check_*.go, and
kubernetes.io/docs/concepts/security/pod-security-standards.
"""

from __future__ import annotations

ENFORCE = "pod-security.kubernetes.io/enforce"
RESTRICTED = "restricted"
LEVELS = ("baseline", RESTRICTED)
HOST_NAMESPACES = ("hostNetwork", "hostPID", "hostIPC")
# Capabilities that a container may add.
CAPABILITIES = {
    "baseline": frozenset(
        (
            *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
            *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
        )
    ),
    RESTRICTED: frozenset(("NET_BIND_SERVICE",)),
}
# Kinds of volumes of the level `restricted`.
VOLUMES = frozenset(
    (
        *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected"),
        "secret",
    )
)
SECCOMP = ("RuntimeDefault", "Localhost")
