"""`trainyard logs`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trainyard.cli.connection import NoSuchRunError, connection, reader
from trainyard.cli.format_option import formats
from trainyard.cli.option_list import option_list
from trainyard.linting.exit_codes import CLEAN

if TYPE_CHECKING:
    from trainyard.commands.status.logs import Line, Source
    from trainyard.commands.status.reading import Reader
    from trainyard.commands.status.snapshot import Tree
    from trainyard.commands.status.verdict import Verdict

HELP = """Print the logs of all ranks of a run, merged by time, each line with its rank.

--failed prints the log of the rank that failed first: that of the container before its last restart if it has started
again, and what events and statuses still say when the pod is gone.

\b
  trainyard logs llm -n research               all ranks
  trainyard logs llm --follow --tail 10        new lines, also of pods that start later
  trainyard logs llm --failed | trainyard doctor -   why the run failed

Exit codes: 0 lines were printed, 2 wrong usage or no answer from the cluster, 3 no such run, or it has no log.
"""
_SINCE = re.compile(r"(\d+)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_COLORS = ("cyan", "green", "yellow", "magenta", "blue", "bright_cyan", "bright_green", "bright_magenta")


class Duration(click.ParamType[int]):
    """A time such as 90s, 5m, 2h or 1d, in seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the seconds."""
        found = _SINCE.fullmatch(str(value))
        if found is None or not int(found[1]):
            self.fail(f"`{value}` is no time; write it as 90s, 5m, 2h or 1d", param, ctx)
        return int(found[1]) * _SECONDS[found[2]]


_OPTIONS = (
    click.option("-f", "--follow", is_flag=True, help="Print new lines until the run has ended."),
    click.option("--rank", type=click.IntRange(min=0), metavar="N", help="Only the pod with this rank."),
    click.option("--failed", is_flag=True, help="Only the rank that failed first."),
    click.option("--since", type=Duration(), metavar="TIME", help="Only lines of the last 90s, 5m, 2h or 1d."),
    click.option("--tail", type=click.IntRange(min=0), metavar="N", help="Only the last N lines of each pod."),
    click.option("--timestamps", is_flag=True, help="Print the time of each line."),
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="When to colour the ranks.",
    ),
)


@click.command(name="logs", help=HELP)
@click.argument("run", metavar="RUN")
@connection
@option_list(*_OPTIONS)
@formats
def command(
    run: str,
    kubeconfig: Path | None,
    context: str | None,
    namespace: str | None,
    follow: bool,
    rank: int | None,
    failed: bool,
    since: int | None,
    tail: int | None,
    timestamps: bool,
    color: str,
    output: str,
) -> int:
    """Prints the logs."""
    if failed and (follow or rank is not None):
        raise click.UsageError("--failed chooses the rank, and its log has ended; leave out --rank and --follow")
    query: dict[str, str | int] = {} if since is None else {"sinceSeconds": since}
    query |= {} if tail is None else {"tailLines": tail}
    with reader(kubeconfig, context, namespace) as (found, place):
        job = found.find(run, place)
        printer = _Printer(color, output, timestamps=timestamps)
        if failed:
            printer.show(_of_the_failed(found, job, query, printer))
        elif follow:
            printer.show(_followed(found, job, rank, query, printer))
        else:
            printer.show(_of_all(found, job, rank, query, printer))
        if not printer.count:
            raise NoSuchRunError(f"`{run}` has no log; `trainyard status {run}` tells why")
    return CLEAN


class _Printer:
    """Prints lines with the prefix of their pod."""

    def __init__(self, color: str, output: str, *, timestamps: bool) -> None:
        self._color = {"always": True, "never": False}.get(color)
        self._json = output == "json"
        self._timestamps = timestamps
        self.sources: dict[str, Source] = {}
        self.count = 0

    def show(self, lines: Iterable[Line]) -> None:
        """Prints the lines."""
        for line in lines:
            self.count += 1
            click.echo(self._json_line(line) if self._json else self._text_line(line), color=self._color)

    def _json_line(self, line: Line) -> str:
        known = self.sources.get(line.pod)
        ranks = list(known.ranks) if known is not None and known.ranks is not None else None
        return json.dumps(
            {"time": f"{line.time}Z" if line.time else None, "pod": line.pod, "ranks": ranks, "line": line.text}
        )

    def _text_line(self, line: Line) -> str:
        from trainyard.reporters.escaping import visible

        known = self.sources.get(line.pod)
        prefix = known.prefix if known is not None else f"[pod/{line.pod}/]"
        hue = _COLORS[list(self.sources).index(line.pod) % len(_COLORS)] if known is not None else None
        time = f"{line.time}Z " if self._timestamps and line.time else ""
        return f"{click.style(prefix, fg=hue)} {time}{visible(line.text)}"


def _verdict(found: Reader, job: Tree) -> Verdict:
    from trainyard.commands.status.verdict import judge

    return judge(found.snapshot(job, reports=False))


def _sources(verdict: Verdict, rank: int | None, printer: _Printer) -> Sequence[Source]:
    """Returns the pods that have started, and gives the printer their prefixes."""
    from trainyard.commands.status.logs import source, with_rank

    every = [source(one) for one in verdict.replicas]
    chosen = every if rank is None else with_rank(every, rank)
    if rank is not None and every and not chosen:
        last = max((one.ranks[1] for one in every if one.ranks is not None), default=None)
        raise click.UsageError(
            f"--rank {rank}: the run has ranks 0 to {last}" if last is not None else "it has no ranks"
        )
    printer.sources = {one.name: one for one in chosen}
    started = {one.name for one in verdict.replicas if _has_started(one.pod)}
    return [one for one in chosen if one.name in started]


def _has_started(pod: Tree) -> bool:
    from trainyard.commands.status.reading import main_container
    from trainyard.document.lookup import items, mapping

    main = main_container(pod)
    statuses = [one for one in items(pod, "status", "containerStatuses") if one.get("name") == main]
    return any(
        mapping(one, state, kind)
        for one in statuses
        for state in ("state", "lastState")
        for kind in ("running", "terminated")
    )


def _of_all(
    found: Reader, job: Tree, rank: int | None, query: dict[str, str | int], printer: _Printer
) -> Iterator[Line]:
    from trainyard.commands.status.logs import merged

    sources = _sources(_verdict(found, job), rank, printer)
    yield from merged({one.name: _log(found, one.pod, query) for one in sources})


def _log(found: Reader, pod: Tree, query: dict[str, str | int], *, previous: bool = False) -> Iterator[str]:
    """Yields the lines of a log; a note stands for one that cannot be read."""
    from trainyard.cli import output
    from trainyard.commands.audit.cluster import RequestRefusedError
    from trainyard.commands.status.snapshot import name

    try:
        yield from found.log(pod, query, previous=previous)
    except RequestRefusedError as error:
        output.say(f"note: the log of {name(pod)} cannot be read: {error}")


def _followed(
    found: Reader, job: Tree, rank: int | None, query: dict[str, str | int], printer: _Printer
) -> Iterator[Line]:
    from trainyard.cli import output
    from trainyard.commands.status.logs import Follower

    def read(one: Source, last: str) -> Iterator[str]:
        begin: dict[str, str | int] = {"sinceTime": f"{last.partition('.')[0]}Z"} if last else query
        return found.log(one.pod, begin, endless=True)

    def state() -> tuple[Sequence[Source], bool]:
        verdict = _verdict(found, found.again(job))
        return _sources(verdict, rank, printer), verdict.state in ("succeeded", "failed")

    follower = Follower(read)
    yield from follower.follow(state)
    for fault in dict.fromkeys(follower.faults):
        output.say(f"note: {fault}")


def _of_the_failed(found: Reader, job: Tree, query: dict[str, str | int], printer: _Printer) -> Iterator[Line]:
    from trainyard.cli import output
    from trainyard.commands.status.logs import Line, parsed, source

    verdict = _verdict(found, job)
    if not verdict.failures:
        raise NoSuchRunError(f"no rank of {verdict.title} has failed: {verdict.headline}")
    first = verdict.failures[0]
    output.say(f"note: {first.words()}, {first.time}")
    replica = next((one for one in verdict.replicas if one.name == first.pod), None)
    if replica is not None:
        printer.sources = {first.pod: source(replica)}
        count = 0
        for words in _log(found, replica.pod, query, previous=first.previous):
            count += 1
            yield parsed(first.pod, words)
        if count:
            return
    output.say("note: its log is gone; these lines are from its status and events")
    for words in first.message.splitlines() or [verdict.headline]:
        yield Line(first.time.removesuffix("Z"), first.pod, words)
