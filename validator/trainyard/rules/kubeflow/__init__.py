"""KF: the job kinds of Kubeflow, JobSet and Kubernetes."""
