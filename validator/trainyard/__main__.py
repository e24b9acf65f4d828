"""Entry of the command `trainyard`, also as `python -m validator`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable


def main() -> int:
    """Run the command line and return its exit code."""
    # Trees are most of what is made. Looking for cycles among them takes longer than linting them, and as long again
    # when Python ends.
    gc.set_threshold(100_000, 50, 1000)
    try:
        return _run()
    finally:
        gc.freeze()


def _run() -> int:
    # The version alone needs none of the imports below.
    if sys.argv[1:] in (["--version"], ["-V"]):
        from validator import __version__

        sys.stdout.write(f"trainyard {__version__}\n")
        return 0
    command, *words = sys.argv[1:] or [""]
    if command == "lint":
        from validator import plain

        code = _quietly(plain.lint, words)
        if code is not None:
            return code
    from validator import cli

    return cli.main()


def _quietly(lint: Callable[[list[str]], int | None], words: list[str]) -> int | None:
    """What came of it; None for any trouble, which the whole command line meets again and knows how to tell."""
    try:
        return lint(words)
    except Exception:
        return None
    except KeyboardInterrupt:
        from validator.exit_codes import INTERRUPTED

        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
