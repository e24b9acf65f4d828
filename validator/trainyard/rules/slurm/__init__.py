"""SL: batch scripts of Slurm."""
