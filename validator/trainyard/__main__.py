"""Entry point of the command `trainyard` and of `python -m trainyard`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable


def main() -> int:
    """Runs the command line and returns its exit code."""
    # Most objects are trees. Looking for cycles among them takes longer than linting them, and as long again when
    # Python exits. A mebibyte of manifests has fewer objects than this.
    gc.set_threshold(1_000_000, 50, 1000)
    try:
        return _run()
    finally:
        gc.freeze()


def _run() -> int:
    # `--version` needs none of the imports below.
    if sys.argv[1:] in (["--version"], ["-V"]):
        from trainyard import __version__

        sys.stdout.write(f"trainyard {__version__}\n")
        return 0
    command, *words = sys.argv[1:] or [""]
    if command == "lint":
        from trainyard.cli import fast_lint

        code = _try(fast_lint.lint_fast, words)
        if code is not None:
            return code
    from trainyard.cli import main as cli

    return cli.main()


def _try(lint: Callable[[list[str]], int | None], words: list[str]) -> int | None:
    """Returns the exit code; None for any error: the full command line repeats the call and reports it properly."""
    try:
        return lint(words)
    except Exception:
        return None
    except KeyboardInterrupt:
        from trainyard.linting.exit_codes import INTERRUPTED

        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
