"""A package that starts a thread while it is imported, and the launcher of a trainer that imports it."""

from __future__ import annotations

import os
import sys
import threading

from trainer import launcher
from trainer.errors import ConfigError

if __name__ != "__main__":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
else:
    setattr(launcher, os.environ["IMPORTED_BY"], ["tests.trainer.threaded_import"])
    try:
        launcher.main(sys.argv[1:])
    except ConfigError as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(error.exit_code)
