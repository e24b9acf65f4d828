"""Daemons of training clusters: their images, and the flags of each release.

`daemon_flags.csv` has a line for each flag: what it takes, its letter, and the minor releases that have it. An empty
column means all of those in `releases` below; `-0.3` is until 0.3, and `1.4-` from 1.4 on. It was read on 2026-11-28
from the Go sources at the first and the last tag of each minor release, in the files that register flags:

- kubeflow/mpi-operator v0.2.0 to v0.8.0 cmd/mpi-operator*, v2/cmd/mpi-operator; kubeflow/trainer v1.3.0 to v1.9.4
  cmd/training-operator.v1, v2.0.0 to v2.3.0 cmd/trainer-controller-manager; kubernetes-sigs/kueue v0.1.0 to v0.19
  cmd/kueue; kubernetes-sigs/jobset v0.1.0 to v0.12.0 main.go; kubernetes-sigs/lws v0.1.0 to v0.10.0 cmd;
  volcano-sh/volcano v1.0 to v1.15 cmd/*/app/options; ray-project/kuberay v0.1 to v1.7 ray-operator/main.go.
- kubeflow/spark-operator v1beta2-1.0.0-2.4.4 to v1beta2-1.6.2-3.5.0 main.go, pkg/webhook.
- NVIDIA/k8s-device-plugin v0.9.0 to v0.20.0 cmd; NVIDIA/gpu-feature-discovery v0.6.0 to v0.8.2 cmd;
  NVIDIA/dcgm-exporter 2.5.0 to 4.8.2 pkg/cmd/app.go; kubernetes-sigs/node-feature-discovery v0.10.0 to v0.19.0 cmd.
- k8snetworkplumbingwg/sriov-network-device-plugin v3.0.0 to v3.11.0 cmd/sriovdp, and multus-cni v3.9 to v4.3.0
  cmd/thin_entrypoint, cmd/multus-daemon, cmd/controller.
- kubernetes/autoscaler cluster-autoscaler-1.18 to 1.36 cluster-autoscaler; kubernetes-sigs/metrics-server v0.3 to v0.9
  cmd; kubernetes/kube-state-metrics v1.5 to v2.20 pkg/options; kubernetes/node-problem-detector v0.5 to v1.36 cmd;
  kubernetes/git-sync v4.0.0 to v4.7.1 main.go.
- kubernetes v1.20 to v1.37 cmd/*/app, pkg/kubeapiserver, pkg/controlplane, pkg/kubelet/config and plugin/pkg/admission,
  at the last tag of each minor release, with k8s.io/apiserver, cloud-provider and controller-manager of that release.
- prometheus/prometheus v2.0 to v3.14 cmd/prometheus; prometheus/node_exporter v0.15 to v1.12 collector;
  prometheus-operator/prometheus-operator v0.30 to v0.93 cmd/operator.

The flags of libraries are those of any release of the library: klog, controller-runtime's zap, k8s.io/component-base,
k8s.io/apiserver and prometheus/exporter-toolkit.
"""

from __future__ import annotations

import functools
import os

from trainyard.startup import NamedTuple

Minor = tuple[int, int]
_LIBRARIES = {
    "klog": (
        "add-dir-header alsologtostderr legacy-stderr-threshold-behavior log-backtrace-at log-dir log-file "
        "log-file-max-size log-flush-frequency logtostderr one-output skip-headers skip-log-headers stderrthreshold v "
        "vmodule"
    ),
    "zap": "kubeconfig zap-devel zap-encoder zap-log-level zap-stacktrace-level zap-time-encoding",
    "component": (
        "leader-elect leader-elect-lease-duration leader-elect-renew-deadline leader-elect-resource-lock "
        "leader-elect-resource-name leader-elect-resource-namespace leader-elect-retry-period "
        "experimental-logging-sanitization log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size "
        "log-text-split-stream logging-format feature-gates emulated-version emulation-forward-compatible "
        "min-compatibility-version runtime-config-emulation-forward-compatible cloud-provider-gce-lb-src-cidrs "
        "cloud-provider-gce-l7lb-src-cidrs show-hidden-metrics-for-version disabled-metrics allow-metric-labels "
        "allow-metric-labels-manifest"
    ),
    "server": (
        "address bind-address cert-dir client-ca-file contention-profiling debug-socket-path disable-http2-serving "
        "enable-priority-and-fairness enable-swagger-ui http2-max-streams-per-connection kubeconfig "
        "permit-address-sharing permit-port-sharing port profiling requestheader-allowed-names "
        "requestheader-client-ca-file requestheader-extra-headers-prefix requestheader-group-headers "
        "requestheader-uid-headers requestheader-username-headers secure-port tls-cert-file tls-cipher-suites "
        "tls-curve-preferences tls-min-version tls-private-key-file tls-sni-cert-key authentication-kubeconfig "
        "authentication-skip-lookup authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure "
        "authorization-always-allow-paths authorization-kubeconfig authorization-webhook-cache-authorized-ttl "
        "authorization-webhook-cache-unauthorized-ttl audit-dynamic-configuration audit-log-batch-buffer-size "
        "audit-log-batch-max-size audit-log-batch-max-wait audit-log-batch-throttle-burst "
        "audit-log-batch-throttle-enable audit-log-batch-throttle-qps audit-log-compress audit-log-format "
        "audit-log-maxage audit-log-maxbackup audit-log-maxsize audit-log-mode audit-log-path "
        "audit-log-truncate-enabled audit-log-truncate-max-batch-size audit-log-truncate-max-event-size "
        "audit-log-version audit-policy-file audit-webhook-batch-buffer-size audit-webhook-batch-initial-backoff "
        "audit-webhook-batch-max-size audit-webhook-batch-max-wait audit-webhook-batch-throttle-burst "
        "audit-webhook-batch-throttle-enable audit-webhook-batch-throttle-qps audit-webhook-config-file "
        "audit-webhook-initial-backoff audit-webhook-mode audit-webhook-truncate-enabled "
        "audit-webhook-truncate-max-batch-size audit-webhook-truncate-max-event-size audit-webhook-version"
    ),
    "toolkit": "log.level log.format web.config.file web.systemd-socket web.listen-address",
}
_EVERYWHERE = frozenset(("help", "h", "version"))
# Those of the libraries that take no value.
LIBRARY_SWITCHES = frozenset(
    (
        "add-dir-header", "alsologtostderr", "h", "help", "leader-elect", "legacy-stderr-threshold-behavior",
        "log-json-split-stream", "log-text-split-stream", "logtostderr", "one-output", "skip-headers",
        "skip-log-headers", "version", "web.systemd-socket", "zap-devel",
    )
)  # fmt: skip


class Flag(NamedTuple):
    """A flag of some releases, each from a first to a last one; None is the first or the last known release.

    `takes` is "b" for a switch, "d" for a duration of Go, "i" for an integer, "u" for one without a sign, "f" for a
    number, or "s" for any text. Words behind a `=` are all the values that the flag takes.
    """

    takes: str
    short: str
    releases: tuple[tuple[Minor | None, Minor | None], ...]

    def is_in(self, release: Minor) -> bool:
        """Returns true if a known release has the flag."""
        return not self.releases or any(
            (first is None or release >= first) and (last is None or release <= last) for first, last in self.releases
        )


class Daemon(NamedTuple):
    """A daemon. `title` is its name in a sentence, and `table` that in the table.

    `images` are the last parts of its images' paths, and `command` is the program in them. `starts` are those that run
    it if a container names no command. `releases` are the first and the last minor of each series that the table has.
    `dashes` is 1 if one dash begins a long flag too, as in Go's own package. `tags` is the form of a tag: "plain",
    "thick" for one that ends so, "second" if the daemon's version follows that of a library, or "spark" if it follows
    that of an API.
    `newest` is a public image whose tag `latest` is the newest release.
    """

    title: str
    table: str
    images: tuple[str, ...]
    command: str
    starts: tuple[str, ...]
    releases: tuple[tuple[Minor, Minor], ...]
    dashes: int = 1
    libraries: tuple[str, ...] = ()
    tags: str = "plain"
    newest: str = ""

    def has(self, release: Minor) -> bool:
        """Returns true if the table has this release."""
        return any(first <= release <= last for first, last in self.releases)


_GO = ("klog", "zap")
_POSIX = ("klog", "component")
_NFD = ("node-feature-discovery",)
_PLUGIN = ("nvidia/k8s-device-plugin",)


def _manager(title: str, image: str, *releases: tuple[Minor, Minor], more: tuple[str, ...] = ()) -> Daemon:
    images = (*more, image)
    return Daemon(title, image, images, "manager", images, releases, libraries=_GO)


def _volcano(part: str) -> Daemon:
    name = f"vc-{part}"
    title = f"Volcano's {part.replace('-', ' ')}"
    return Daemon(title, name, (name,), name, (name,), (((1, 0), (1, 15)),), 2, _POSIX)


def _discovery(part: str, first: Minor) -> Daemon:
    return Daemon(f"nfd-{part}", f"nfd-{part}", _NFD, f"nfd-{part}", (), ((first, (0, 19)),), libraries=_POSIX)


def _posix(
    name: str,
    *releases: tuple[Minor, Minor],
    images: tuple[str, ...] = (),
    title: str = "",
    starts: bool = True,
    more: tuple[str, ...] = (),
) -> Daemon:
    images = images or (name,)
    return Daemon(title or name, name, images, name, images if starts else (), releases, 2, (*_POSIX, *more))


def _kubernetes(name: str, title: str = "") -> Daemon:
    # The images have no entry point.
    return Daemon(title or name, name, (name,), name, (), (((1, 20), (1, 37)),), 2, _POSIX)


# The components that kubeadm starts.
KUBERNETES = {
    name: _kubernetes(name, title)
    for name, title in (
        ("kube-apiserver", ""),
        ("kube-controller-manager", ""),
        ("kube-scheduler", ""),
        ("kubelet", "the kubelet"),
    )
}
DAEMONS = (
    *KUBERNETES.values(),
    _kubernetes("kube-proxy"),
    Daemon(
        "the MPI operator", "mpi-operator", ("mpi-operator",), "mpi-operator", ("mpi-operator",),
        (((0, 2), (0, 8)),), libraries=("klog",), newest="mpioperator/mpi-operator",
    ),
    _manager("the training operator", "training-operator", ((1, 3), (1, 9))),
    _manager("Kubeflow Trainer", "trainer-controller-manager", ((2, 0), (2, 3))),
    _manager("Kueue", "kueue", ((0, 1), (0, 19))),
    _manager("JobSet", "jobset", ((0, 1), (0, 12))),
    _manager("LeaderWorkerSet", "lws", ((0, 1), (0, 10))),
    _manager(
        "the KubeRay operator", "kuberay-operator", ((0, 1), (0, 6)), ((1, 0), (1, 7)), more=("kuberay/operator",)
    ),
    Daemon(
        "Spark's operator", "spark-operator", ("spark-operator",), "spark-operator", ("spark-operator",),
        (((1, 0), (1, 6)),), libraries=("klog",), tags="spark",
    ),
    _volcano("scheduler"),
    _volcano("controller-manager"),
    _volcano("webhook-manager"),
    Daemon(
        "NVIDIA's device plugin", "nvidia-device-plugin", _PLUGIN, "nvidia-device-plugin", _PLUGIN,
        (((0, 9), (0, 20)),), libraries=("klog",),
    ),
    Daemon(
        "GPU feature discovery", "gpu-feature-discovery", (*_PLUGIN, "nvidia/gpu-feature-discovery"),
        "gpu-feature-discovery", ("nvidia/gpu-feature-discovery",), (((0, 6), (0, 8)), ((0, 15), (0, 20))),
        libraries=("klog",),
    ),
    Daemon(
        "dcgm-exporter", "dcgm-exporter", ("dcgm-exporter",), "dcgm-exporter", ("dcgm-exporter",),
        (((2, 5), (2, 6)), ((3, 0), (3, 6)), ((4, 0), (4, 2)), ((4, 4), (4, 8))), tags="second",
    ),
    _discovery("master", (0, 10)),
    _discovery("worker", (0, 10)),
    _discovery("topology-updater", (0, 10)),
    _discovery("gc", (0, 14)),
    Daemon(
        "the SR-IOV device plugin", "sriovdp", ("sriov-network-device-plugin", "sriov-device-plugin"), "sriovdp", (),
        (((3, 0), (3, 11)),), libraries=("klog",),
    ),
    Daemon(
        "thin_entrypoint of Multus", "thin_entrypoint", ("multus-cni",), "thin_entrypoint", ("multus-cni",),
        (((4, 0), (4, 3)),), 2, ("klog",),
    ),
    Daemon(
        "multus-daemon", "multus-daemon", ("multus-cni",), "multus-daemon", ("multus-cni",),
        (((3, 9), (3, 9)), ((4, 0), (4, 3))), libraries=("klog",), tags="thick",
    ),
    _posix("node-problem-detector", ((0, 5), (0, 8)), ((1, 34), (1, 36))),
    _posix("metrics-server", ((0, 3), (0, 9)), images=("metrics-server", "metrics-server-amd64"), more=("server",)),
    _posix("kube-state-metrics", ((1, 5), (1, 9)), ((2, 0), (2, 20))),
    _posix("git-sync", ((4, 0), (4, 7))),
    _posix(
        "cluster-autoscaler", ((1, 18), (1, 36)), title="the cluster autoscaler", starts=False,
        images=("cluster-autoscaler", "cluster-autoscaler-amd64", "cluster-autoscaler-arm64"),
    ),
    Daemon(
        "node_exporter", "node-exporter", ("node-exporter",), "node_exporter", ("node-exporter",),
        (((0, 15), (0, 18)), ((1, 0), (1, 12))), 2, ("toolkit",), newest="prom/node-exporter",
    ),
    Daemon(
        "Prometheus", "prometheus", ("prometheus",), "prometheus", ("prometheus",),
        (((2, 0), (2, 55)), ((3, 0), (3, 14))), 2, ("toolkit",), newest="prom/prometheus",
    ),
    Daemon(
        "the Prometheus operator", "prometheus-operator", ("prometheus-operator",), "operator",
        ("prometheus-operator",), (((0, 30), (0, 93)),), libraries=("klog",),
    ),
)  # fmt: skip
# A file without any of these names has no daemon.
WORDS = tuple(sorted({image for daemon in DAEMONS for image in daemon.images}))


def flags(daemon: Daemon) -> dict[str, Flag]:
    """Returns the flags of a daemon by their names, with dashes for underscores."""
    return _table().get(daemon.table, {})


@functools.cache
def library_flags(daemon: Daemon) -> frozenset[str]:
    """Returns the flags that any release of its libraries may have."""
    return _EVERYWHERE.union(*(_LIBRARIES[name].split() for name in daemon.libraries))


@functools.cache
def _table() -> dict[str, dict[str, Flag]]:
    import csv

    path = os.path.join(os.path.dirname(__file__), "daemon_flags.csv")
    found: dict[str, dict[str, Flag]] = {}
    with open(path, encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines)
        next(rows)
        for program, name, takes, short, releases in rows:
            ranges = tuple(map(_range, releases.split()))
            found.setdefault(program, {})[name] = Flag(takes, short, ranges)
    return found


def _range(text: str) -> tuple[Minor | None, Minor | None]:
    first, dash, last = text.partition("-")
    return _minor(first), _minor(last if dash else first)


def _minor(text: str) -> Minor | None:
    major, _, minor = text.partition(".")
    return (int(major), int(minor)) if minor else None
