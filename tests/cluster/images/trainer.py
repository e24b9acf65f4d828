"""The reference trainer on Debian's CPU build of torch: what the test cluster runs.

Users build `trainer/Dockerfile` instead, on a PyTorch base image; both run the same package.
"""

from __future__ import annotations

from pathlib import Path

from .. import cache, progress
from .archive import Content, Image, Layer, write_archive
from .rootfs import Rootfs

# forky: trixie's torch is older than 2.10, which loads untrusted checkpoints unsafely (CVE-2026-24747).
DEBIAN = Rootfs("trainer", "forky", ("iproute2", "libc-bin", "python3-sklearn", "python3-torch"))
PACKAGE = Path(__file__).parents[3] / "trainer"
HOME = "opt/trainyard"
SITE = "usr/lib/python3/dist-packages"
USER = 1000


def reference() -> str:
    """Image reference; its tag is the hash of the trainer's code and of the Debian system under it."""
    return f"localhost/trainyard/trainer:{_key()}"


def archive() -> Path:
    """Return the image as an archive, built when the cache has none."""

    def build(folder: Path) -> None:
        debian = DEBIAN.tar()
        with progress.step("writing the trainer image"):
            code = Layer.create(folder / "layer.tar", _contents())
            environment = {
                "HOME": "/tmp",  # noqa: S108 - the only folder that a read-only container may write
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONPATH": f"/{HOME}",
                "PYTHONUNBUFFERED": "1",
            }
            image = Image(
                reference(),
                (Layer.of(debian), code),
                environment=environment,
                user=f"{USER}:{USER}",
                working_directory=f"/{HOME}",
            )
            write_archive(folder / "image.tar", [image])
            code.path.unlink()

    return cache.cached("images", f"trainer-{_key()}", build, keep_others=False) / "image.tar"


def _key() -> str:
    contents = _contents()
    parts = [part for name, content in contents.items() for part in (name, content if content is not None else "")]
    return cache.digest(DEBIAN.key, *parts)


def _contents() -> dict[str, Content]:
    sources = sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)
    contents: dict[str, Content] = {f"{HOME}/{path.relative_to(PACKAGE.parent)}": path for path in sources}
    contents[f"{SITE}/trainyard_libuv.py"] = Path(__file__).with_name("libuv.py")
    contents[f"{SITE}/trainyard_libuv.pth"] = "import trainyard_libuv\n"
    return contents
