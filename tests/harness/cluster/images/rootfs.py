"""Root file systems from Debian packages, as tar files: `mmdebstrap` does the work."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.harness.cluster import cache, progress

# Documentation and headers, which nothing in a test cluster reads.
EXCLUDED = (
    "/usr/share/doc/*",
    "/usr/share/man/*",
    "/usr/share/locale/*",
    "/usr/share/info/*",
    "/usr/include/*",
)
# The release of trixie, as the time of the files that mmdebstrap writes: another machine writes the same bytes with the
# same packages. It is not a part of the key, because no program depends on it.
WRITTEN = "1754697600"
# Python packages' tests are a tenth of the trainer's image. Removed last: packages compile them when installed.
DROP_TESTS = 'find "$1/usr" -path "*/dist-packages/*" -type d -name tests -prune -exec rm -r {} +'


@dataclass(frozen=True)
class Rootfs:
    """A Debian suite with packages installed; increase `recipe` to rebuild it from the same packages.

    `hooks` are shell commands that change the installed system, whose root is `$1`.
    """

    name: str
    suite: str
    packages: Sequence[str]
    recipe: int = 1
    hooks: Sequence[str] = ()

    @property
    def key(self) -> str:
        """The hash of the command that builds it."""
        return cache.digest(*self._command(), str(self.recipe))

    @property
    def entry(self) -> Path:
        """The folder of the cache that holds it, or will hold it."""
        return cache.root() / "rootfs" / f"{self.name}-{self.key}"

    @property
    def title(self) -> str:
        """The title of the step that builds it."""
        return f"installing Debian {self.suite} for the {self.name} image"

    def tar(self) -> Path:
        """Return the tar file, made by `mmdebstrap` when the cache has none."""

        def build(folder: Path) -> None:
            # Outside the cache folder, because apt's own user must be able to reach the unfinished system.
            prefix = f"trainyard-rootfs-{self.name}."
            for leftover in Path("/var/tmp").glob(f"{prefix}*"):  # noqa: S108
                shutil.rmtree(leftover, ignore_errors=True)
            # A new name: the leftover of a build that was killed may still hold mounts.
            scratch = Path(tempfile.mkdtemp(prefix=prefix, dir="/var/tmp"))
            scratch.chmod(0o755)
            with progress.step(self.title):
                environment = os.environ | {"TMPDIR": str(scratch), "SOURCE_DATE_EPOCH": WRITTEN}
                log = f"rootfs-{self.name}"
                progress.run([*self._command(), folder / "rootfs.tar"], log=log, environment=environment)
            shutil.rmtree(scratch, ignore_errors=True)

        return cache.cached("rootfs", self.entry.name, build, keep_others=False) / "rootfs.tar"

    def _command(self) -> list[str]:
        return [
            "mmdebstrap",
            "--variant=essential",
            f"--include={','.join(self.packages)}",
            # A mirror that is frozen at a date serves expired indexes; debootstrap accepts them too.
            '--aptopt=Acquire::Check-Valid-Until "false"',
            '--aptopt=APT::Install-Recommends "false"',
            *(f"--dpkgopt=path-exclude={pattern}" for pattern in EXCLUDED),
            *(f"--customize-hook={hook}" for hook in (*self.hooks, DROP_TESTS)),
            self.suite,
        ]
