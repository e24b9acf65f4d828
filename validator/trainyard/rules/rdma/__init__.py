"""RD: RDMA devices and the host network."""
