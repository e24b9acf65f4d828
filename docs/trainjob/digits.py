"""Trains on two nodes with Kubeflow's Python SDK: `python digits.py [NAMESPACE]`.

It needs the package kubeflow, and a cluster with the runtimes of charts/training-runtimes.
"""

from __future__ import annotations

import sys

from kubeflow.common.types import KubernetesBackendConfig
from kubeflow.trainer import CustomTrainer, TrainerClient


def train(epochs: int) -> None:
    """Trains a classifier of handwritten digits. The SDK sends this text alone, so all imports are here."""
    import os

    import torch
    import torch.distributed as dist
    from sklearn.datasets import load_digits
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

    # torchrun sets LOCAL_RANK, RANK and WORLD_SIZE of each process.
    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if on_gpu else torch.device("cpu")
    dist.init_process_group(backend="nccl" if on_gpu else "gloo")
    torch.manual_seed(0)
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32).flatten(1) / 16
    dataset = TensorDataset(images, torch.tensor(data.target))
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=32, sampler=sampler)
    net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    model = DistributedDataParallel(net.to(device))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(1, epochs + 1):
        sampler.set_epoch(epoch)
        total = torch.zeros(1, device=device)
        for inputs, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(inputs.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.detach()
        # The sum of all ranks, so that each of them could print it.
        dist.all_reduce(total)
        if dist.get_rank() == 0:
            ranks = dist.get_world_size()
            print(f"epoch={epoch}/{epochs} ranks={ranks} loss={total.item() / ranks / len(loader):.3f}", flush=True)
    dist.destroy_process_group()


def main(namespace: str) -> None:
    """Starts the function on two nodes, follows it, and deletes its TrainJob."""
    client = TrainerClient(KubernetesBackendConfig(namespace=namespace))
    for runtime in client.list_runtimes():
        print(f"runtime: {runtime.name} framework={runtime.trainer.framework}")
    name = client.train(
        runtime="torch-distributed",
        trainer=CustomTrainer(
            func=train,
            func_args={"epochs": 3},
            num_nodes=2,
            # With GPUs: {"gpu": 8}. What is missing here comes from the runtime.
            resources_per_node={"cpu": "500m", "memory": "1Gi"},
        ),
    )
    client.wait_for_job_status(name, status={"Running", "Complete"})
    for line in client.get_job_logs(name, follow=True):
        print(line)
    job = client.wait_for_job_status(name)
    print(f"{job.status}: nodes={job.num_nodes} steps={[step.name for step in job.steps]}")
    client.delete_job(name)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "default")
