"""NCCL's variables and the values that they take."""
