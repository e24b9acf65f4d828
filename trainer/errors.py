"""Errors that a user can act on: printed as one line by rank 0, never as a traceback."""


class TrainerError(Exception):
    """The run cannot go on. The message says what is wrong and what to do; the process exits with `exit_code`."""

    exit_code = 1


class ConfigError(TrainerError):
    """A flag or a launch variable is wrong. The message names it and says what to write instead."""

    exit_code = 2


class CheckpointError(TrainerError):
    """A checkpoint cannot be written or resumed from. Checkpoints already published are untouched."""
