"""The options of commands that read a run from a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trainyard.cli import output
from trainyard.cli.errors import EndError
from trainyard.cli.option_list import Function, option_list
from trainyard.linting.exit_codes import NOTHING

if TYPE_CHECKING:
    from trainyard.commands.status.reading import Reader

KUBECONFIG = click.option(
    "--kubeconfig", metavar="FILE", type=click.Path(path_type=Path), help="Kubeconfig of the cluster, as for kubectl."
)
CONTEXT = click.option("--context", metavar="NAME", help="Context of the kubeconfig. Default: the current one.")
_NAMESPACE = click.option(
    "-n", "--namespace", metavar="NAME", help="Namespace of the run. Default: that of the context."
)


class NoSuchRunError(EndError):
    """The cluster has no such run."""

    exit_code = NOTHING


def connection(function: Function) -> Function:
    """Adds the options that name a cluster and a namespace."""
    return option_list(KUBECONFIG, CONTEXT, _NAMESPACE)(function)


@contextmanager
def reader(kubeconfig: Path | None, context: str | None, namespace: str | None) -> Iterator[tuple[Reader, str]]:
    """Yields a reader of the cluster and the namespace. Errors of the cluster become messages; notes go to stderr."""
    from trainyard.commands.audit.cluster import ClusterError, RequestRefusedError, connect, default_namespace
    from trainyard.commands.audit.references import is_name
    from trainyard.commands.status.errors import NoRunError
    from trainyard.commands.status.reading import Reader

    if namespace is not None and not is_name(namespace):
        raise click.UsageError(f"--namespace: `{namespace}` is not a valid namespace")
    try:
        found = Reader(connect(kubeconfig, context, extra="status"))
        yield found, namespace or default_namespace(kubeconfig, context)
    except (ClusterError, RequestRefusedError) as error:
        raise click.ClickException(str(error)) from None
    except NoRunError as error:
        raise NoSuchRunError(str(error)) from None
    for note in found.notes:
        output.say(f"note: {note}")
