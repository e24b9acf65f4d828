"""Errors that a user can act on. Rank 0 prints them as one line, without a traceback."""

from __future__ import annotations


class TrainerError(Exception):
    """The run cannot continue. The message says what is wrong and how to fix it; the process exits with `exit_code`."""

    exit_code = 1


class ConfigError(TrainerError):
    """A flag or a launch variable is wrong. The message names it and suggests a valid value."""

    exit_code = 2


class DataError(TrainerError):
    """Samples cannot be read, or do not suit the run. One rank may find it; all ranks raise it."""


class CheckpointError(TrainerError):
    """A checkpoint cannot be written or resumed from. Published checkpoints are not affected."""
