"""ConfigMaps that a component finds by their fixed name, with the keys that it reads. Others have no effect.

Each line names the component and its source.
"""

from __future__ import annotations

# The expander of the cluster autoscaler reads the ConfigMap of this name itself.
EXPANDER = "cluster-autoscaler-priority-expander"
# By the name of the ConfigMap: the keys, one of which the component needs.
KEYS: dict[str, tuple[str, ...]] = {
    # kubernetes/autoscaler cluster-autoscaler/expander/priority/priority.go: ConfigMapKey
    EXPANDER: ("priorities",),
    # kubernetes-sigs/aws-iam-authenticator pkg/mapper/configmap/configmap.go: ParseMap
    "aws-auth": ("mapRoles", "mapUsers", "mapAccounts"),
    # kubernetes v1.37.2 cmd/kubeadm/app/constants/constants.go: names of ConfigMaps and their keys
    "kubeadm-config": ("ClusterConfiguration", "ClusterStatus"),
    "kubelet-config": ("kubelet",),
    "kube-proxy": ("config.conf", "config"),
    "coredns": ("Corefile",),
    # kubernetes/kubernetes cluster/addons/dns/nodelocaldns/nodelocaldns.yaml
    "node-local-dns": ("Corefile", "Corefile.base"),
    # kubernetes-sigs/kueue, jobset and lws: config/components/manager/controller_manager_config.yaml
    "kueue-manager-config": ("controller_manager_config.yaml",),
    "jobset-manager-config": ("controller_manager_config.yaml",),
    "lws-manager-config": ("controller_manager_config.yaml",),
    # volcano-sh/volcano installer/helm/chart/volcano/templates: scheduler.yaml, admission.yaml
    "volcano-scheduler-configmap": ("volcano-scheduler.conf", "volcano-scheduler-ci.conf"),
    "volcano-admission-configmap": ("volcano-admission.conf",),
    # kubernetes-sigs/node-feature-discovery deployment/components: worker-config, master-config
    "nfd-worker-conf": ("nfd-worker.conf",),
    "nfd-master-conf": ("nfd-master.conf",),
    # k8snetworkplumbingwg/multus-cni deployments/multus-daemonset-thick.yml
    "multus-daemon-config": ("daemon-config.json",),
    # k8snetworkplumbingwg/sriov-network-device-plugin deployments/sriovdp-daemonset.yaml
    "sriovdp-config": ("config.json",),
    # Mellanox/k8s-rdma-shared-dev-plugin deployment/k8s/base/daemonset.yaml
    "rdma-devices": ("config.json",),
}
