"""Entry of the command `trainyard`, also as `python -m validator`."""

from __future__ import annotations

import sys
from collections.abc import Callable


def main() -> int:
    """Run the command line; the version alone needs none of it."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from validator import __version__

        sys.stdout.write(f"trainyard {__version__}\n")
        return 0
    command, *names = sys.argv[1:] or [""]
    if command == "lint" and names and not any(name.startswith("-") for name in names):
        from validator import plain

        code = _quietly(plain.lint, names)
        if code is not None:
            return code
    from validator import cli

    return cli.main()


def _quietly(lint: Callable[[list[str]], int | None], names: list[str]) -> int | None:
    """What came of it; None for any trouble, which the whole command line meets again and knows how to tell."""
    try:
        return lint(names)
    except Exception:
        return None
    except KeyboardInterrupt:
        from validator.exit_codes import INTERRUPTED

        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
