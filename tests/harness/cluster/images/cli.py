"""The image of the command line, `trainyard`: the fetcher's Debian with Python and git, and all optional packages.

It serves CI, where git names the changed files, and pods that read the state of runs. It has no kubectl and no Helm.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from tests.harness.cluster.archive import Content, tree
from tests.harness.cluster.images import fetcher
from tests.harness.cluster.images.packages import OF_THE_MACHINE, Packages
from tests.harness.cluster.images.python import PythonImage

PYTHON = "3.13"  # trixie's
SITE = f"usr/local/lib/python{PYTHON}/dist-packages"
PROGRAM = "#!/usr/bin/python3\nimport sys\n\nfrom trainyard.__main__ import main\n\nsys.exit(main())\n"


def contents(wheel: Path, folder: Path) -> dict[str, Content]:
    """Unpack a wheel of the command line into a new folder, and return the top layer of its image."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return {**tree(folder, SITE), "usr/local/bin/trainyard": PROGRAM, "work/": None}


# No test loads it, so it has no contents of its own until a release gives it a wheel.
IMAGE = PythonImage(
    "cli",
    fetcher.DEBIAN,
    Packages("cli", PYTHON, unused=OF_THE_MACHINE),
    dict,
    environment={"HOME": "/tmp"},  # noqa: S108 - the only folder that a read-only container may write
    working_directory="/work",
    entrypoint=("trainyard",),
    bytecode=True,
)
