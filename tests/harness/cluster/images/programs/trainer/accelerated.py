"""Trains a small model with Accelerate; every process takes its part of the batches."""

from __future__ import annotations

import json

import torch
from accelerate import Accelerator
from accelerate.utils import InitProcessGroupKwargs, gather_object
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

FEATURES, BATCH, BATCHES, EPOCHS = 12, 4, 16, 4

# Debian's torch supports MPI too. Accelerate would prefer it, and it requires mpirun to start the processes.
accelerator = Accelerator(kwargs_handlers=[InitProcessGroupKwargs(backend="gloo")])
torch.manual_seed(0)
inputs = torch.randn(BATCH * BATCHES, FEATURES)
rows = TensorDataset(inputs, inputs.sum(dim=1, keepdim=True))
plain = nn.Sequential(nn.Linear(FEATURES, 40), nn.Tanh(), nn.Linear(40, 1))
model, optimizer, batches = accelerator.prepare(
    plain, torch.optim.AdamW(plain.parameters(), lr=0.01), DataLoader(rows, batch_size=BATCH)
)

seen, losses = [], []
for _ in range(EPOCHS):
    total = torch.zeros(())
    for batch, targets in batches:
        seen.append(round(float(batch.sum()), 4))
        loss = nn.functional.mse_loss(model(batch), targets)
        total += loss.detach()
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
    losses.append(float(accelerator.reduce(total, reduction="mean")) / len(batches))

summed = accelerator.reduce(torch.tensor([accelerator.process_index + 1.0]), reduction="sum")
result = {
    "rank": accelerator.process_index,
    "local_rank": accelerator.local_process_index,
    "size": accelerator.num_processes,
    "type": accelerator.distributed_type.value,
    "device": accelerator.device.type,
    "wrapped": type(model).__name__,
    "sum": float(summed),
    "first_batch": seen[0],
    "batches": len(seen),
    "losses": losses,
    "weights": [round(float(weight.detach().sum()), 6) for weight in model.parameters()],
}
# The run ends when rank 0 exits, so rank 0 prints the results of all ranks.
for each in gather_object([result]):
    if accelerator.is_main_process:
        print("result", json.dumps(each), flush=True)
accelerator.wait_for_everyone()
accelerator.end_training()
