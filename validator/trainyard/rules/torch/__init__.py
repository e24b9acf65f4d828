"""TD: torch.distributed and torchrun."""
