"""DS: DeepSpeed configurations."""
