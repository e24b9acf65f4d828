"""The reference trainer: the program that runs in the pods of a training job."""
