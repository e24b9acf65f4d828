"""Sources of data: each kind fills `staged/data`, and keeps its state for a later attempt in `staged/state`."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Any, Callable
from urllib.parse import quote, unquote, urlsplit

import clients
import web
from report import FetchError, Progress, say
from transfer import Item, Stream, receive

# A folder at the root of a volume's file system, readable by root alone.
_LOST_AND_FOUND = "lost+found"
_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1"


def fetch(source: dict[str, Any], staged: Path, progress: Progress) -> str:
    """Fetch the source's data into `staged/data`. Returns its version, for a source that has versions."""
    for name in ("data", "state"):
        (staged / name).mkdir(exist_ok=True)
    return _KINDS[source["kind"]](source, staged, progress)


def identity(source: dict[str, Any]) -> dict[str, Any]:
    """Returns what decides if two sources are the same data: all but the signatures of URLs."""
    return _with_urls(source, web.unsigned)


def public(source: dict[str, Any]) -> dict[str, Any]:
    """Returns what logs and files may say of a source."""
    return _with_urls(source, web.shown)


def _with_urls(source: dict[str, Any], changed: Callable[[str], str]) -> dict[str, Any]:
    made = dict(source)
    if "url" in made:
        made["url"] = changed(made["url"])
    if "urls" in made:
        made["urls"] = [changed(url) for url in made["urls"]]
    return made


def title(source: dict[str, Any]) -> str:
    """Returns the name of the source for log lines."""
    source = public(source)
    named = source.get("url") or source.get("repository") or source.get("name") or f"{len(source['urls'])} files"
    return f"{source['kind']} {named}"


def _http(source: dict[str, Any], staged: Path, progress: Progress) -> str:
    advice = {
        401: "set dataset.http.token to a Secret",
        403: "the server refused the request; if it needs a token, set dataset.http.token to a Secret",
        404: "see dataset.http.urls",
    }
    token = os.environ.get("DATASET_TOKEN", "")
    items: dict[str, Item] = {}
    for url in source["urls"]:
        name = unquote(urlsplit(url).path).rsplit("/", 1)[-1]
        if name in ("", ".", ".."):
            raise FetchError(f"{web.shown(url)} ends in no file name: name files in dataset.http.urls")
        if name in items:
            raise FetchError(f"two of dataset.http.urls end in {name}: fetch them into two folders")
        items[name] = Item(name, _opener(url, token, advice))
    receive(list(items.values()), staged, progress)
    return ""


def _hugging_face(source: dict[str, Any], staged: Path, progress: Progress) -> str:
    token = os.environ.get("DATASET_TOKEN", "")
    endpoint, kind, repository = source["endpoint"].rstrip("/"), source["type"], source["repository"]
    advice = dict.fromkeys((401, 403), "set dataset.huggingFace.token, of a user who may read the repository")
    advice[401] += " (the hub also answers 401 for a repository that does not exist)"
    advice[404] = "see dataset.huggingFace.repository, type and revision"
    api = f"{endpoint}/api/{kind}s/{repository}"
    about = web.read_json(f"{api}/revision/{quote(source['revision'], safe='')}", token, advice)[0]
    commit = str(about["sha"])
    _begin_anew_for(commit, staged)
    say(f"{repository} is at commit {commit}")
    if _with_the_library(source, commit, token, staged, progress):
        return commit
    items = []
    page: str | None = f"{api}/tree/{commit}?recursive=true"
    while page:
        entries, page = web.read_json(page, token, advice)
        for entry in entries:
            if entry["type"] == "file":
                path = str(entry["path"])
                prefix = "" if kind == "model" else f"{kind}s/"
                url = f"{endpoint}/{prefix}{repository}/resolve/{commit}/{quote(path)}"
                sha256 = (entry.get("lfs") or {}).get("oid", "")
                items.append(Item(path, _opener(url, token, advice), int(entry["size"]), sha256=sha256))
    receive(items, staged, progress)
    return commit


def _with_the_library(source: dict[str, Any], commit: str, token: str, staged: Path, progress: Progress) -> bool:
    """Transfer with huggingface_hub if the image has it, because it is faster. Returns false if the image lacks it."""
    # Both are read when the library is imported; its caches may exceed /tmp.
    os.environ |= {"HF_ENDPOINT": source["endpoint"], "HF_HOME": str(staged / "state" / "hub")}
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        return False
    data = staged / "data"
    say("transferring with huggingface_hub")
    try:
        snapshot_download(
            repo_id=source["repository"],
            repo_type=source["type"],
            revision=commit,
            local_dir=data,
            token=token or None,
        )
    except Exception as error:  # the library's errors have no common class
        raise FetchError(f"huggingface_hub: {type(error).__name__}: {error}") from error
    shutil.rmtree(data / ".cache" / "huggingface", ignore_errors=True)
    with contextlib.suppress(OSError):
        (data / ".cache").rmdir()
    _count(data, progress)
    return True


def _claim(source: dict[str, Any], staged: Path, progress: Progress) -> str:
    top = Path(source["mountPath"], source["path"])
    if not top.exists():
        raise FetchError(f"the claim {source['name']} has no {source['path']}: see dataset.claim.path")
    items, links = [], []
    for path in _below(top):
        name = path.relative_to(top).as_posix() if path != top else path.name
        if path.is_symlink():
            if path.readlink().is_absolute() or top.resolve() not in path.resolve().parents:
                raise FetchError(f"{path} is a link to a path outside of the data set: widen dataset.claim.path")
            links.append((staged / "data" / name, path.readlink()))
        elif path.is_file():
            about = path.stat()
            items.append(Item(name, _reader(path), about.st_size, about.st_mtime_ns))
    receive(items, staged, progress)
    for link, target in links:
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
    return ""


def _below(top: Path) -> list[Path]:
    """Returns every file and link of a folder, or the path itself if it is a file."""

    def fail(error: OSError) -> None:
        raise error

    if not top.is_dir():
        return [top]
    found = []
    for root, folders, files in os.walk(top, onerror=fail):
        if Path(root) == top and _LOST_AND_FOUND in folders:
            folders.remove(_LOST_AND_FOUND)
        links = [name for name in folders if Path(root, name).is_symlink()]
        found += [Path(root, name) for name in sorted(files + links)]
    return found


def _git(source: dict[str, Any], staged: Path, progress: Progress) -> str:
    state, data = staged / "state", staged / "data"
    repository, tree = state / "repository", state / "tree"
    git = clients.Git(repository, source["url"], os.environ.get("DATASET_TOKEN", ""), progress)
    # Git does not take back the locks of a process that was killed, and this pod alone has the lease.
    for lock in repository.glob("*.lock"):
        lock.unlink()
    # Also for an existing repository, whose creation may have been interrupted.
    git.run("init", "--quiet", "--bare", str(repository))
    commit = git.fetch(source["ref"])
    say(f"{source['ref']} is commit {commit}")
    # An interrupted checkout leaves incomplete files, and an index that lists them as complete.
    shutil.rmtree(tree, ignore_errors=True)
    (repository / "index").unlink(missing_ok=True)
    tree.mkdir()
    git.run(f"--work-tree={tree}", "checkout", "--quiet", "--force", commit, "--", source["path"] or ".")
    wanted = tree / source["path"]
    shutil.rmtree(data)
    if wanted.is_dir():
        wanted.rename(data)
    else:
        data.mkdir()
        wanted.rename(data / wanted.name)
    pointers = [path for path in _below(data) if _is_lfs_pointer(path)]
    if pointers:
        raise FetchError(
            f"{len(pointers)} files such as {pointers[0].name} are only pointers of Git LFS: set dataset.image to an "
            "image with git-lfs, where `git lfs install --system` was run"
        )
    _count(data, progress)
    return commit


def _is_lfs_pointer(path: Path) -> bool:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > 1024:
        return False
    with path.open("rb") as stream:
        return stream.read(len(_LFS_POINTER)) == _LFS_POINTER


def _rclone(source: dict[str, Any], staged: Path, progress: Progress) -> str:
    clients.rclone(source, staged / "data", progress)
    _count(staged / "data", progress)
    return ""


def _opener(url: str, token: str, advice: dict[int, str]) -> Callable[[int, str], Stream]:
    return lambda start, tag: web.open_at(url, start, tag, token, advice)


def _reader(path: Path) -> Callable[[int, str], Stream]:
    def read(start: int, tag: str) -> Stream:
        about = path.stat()
        found = f"{about.st_mtime_ns}-{about.st_size}"
        body = path.open("rb")
        start = start if tag == found else 0
        body.seek(start)
        return Stream(body, start, about.st_size, found)

    return read


def _begin_anew_for(version: str, staged: Path) -> None:
    """Delete staged data of another version, whose files may differ or be gone."""
    note = staged / "state" / "version"
    if note.exists() and note.read_text(encoding="utf-8") != version:
        say("the source has a new version: starting over")
        for name in ("data", "state"):
            shutil.rmtree(staged / name)
            (staged / name).mkdir()
    note.write_text(version, encoding="utf-8")


def _count(data: Path, progress: Progress) -> None:
    """Count the files that an external tool has fetched."""
    for path in _below(data):
        progress.add(path.lstat().st_size, 1)


_KINDS: dict[str, Callable[[dict[str, Any], Path, Progress], str]] = {
    "http": _http,
    "git": _git,
    "s3": _rclone,
    "gs": _rclone,
    "huggingFace": _hugging_face,
    "claim": _claim,
}
