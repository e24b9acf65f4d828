"""The reference trainer, which runs in the pods of a training job."""
