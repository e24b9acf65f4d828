"""What a run reports about itself."""

from trainer.metrics.sinks import Sinks, sinks_of

__all__ = ["Sinks", "sinks_of"]
