"""Entry of the command `trainyard`, also as `python -m validator`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; the version alone needs none of it."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from validator import __version__

        sys.stdout.write(f"trainyard {__version__}\n")
        return 0
    from validator import cli

    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
