"""The kinds that Kubeflow's training operator serves, by the names that its option `--enable-scheme` takes.

Source: kubeflow/training-operator v1.9.3 pkg/controller.v1/register_controller.go (SupportedSchemeReconciler).
"""

from __future__ import annotations

SCHEMES = {
    "pytorchjob": "PyTorchJob",
    "tfjob": "TFJob",
    "mpijob": "MPIJob",
    "xgboostjob": "XGBoostJob",
    "paddlejob": "PaddleJob",
    "jaxjob": "JAXJob",
}
API = "kubeflow.org/v1"
