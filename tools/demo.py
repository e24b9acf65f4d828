"""`make demo`: create a cluster, install the platform, train on two nodes over a second network, and resume the run.

A command that the demo prints is the command that it runs, or one of `yours`, which tests/e2e runs for each road.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from tests.harness.cluster import api, lifecycle, plan, progress, rails, tools
from tests.harness.cluster.cluster import DEFAULT_NAME, Cluster
from tests.harness.cluster.command import exit_status
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import checkpoint, kubeflow_trainer, namespace, networks, operator, platform
from tests.harness.jobs.helm import Helm
from tests.harness.jobs.namespace import PYTORCHJOB, TRAINJOB, Kind
from tests.harness.jobs.run import Run

ROOT = Path(__file__).parents[1]
NAMESPACE = "demo"
RELEASE = "digits"
MORE_EPOCHS = 5
# Nothing else runs on this cluster; a volume may still be pending, or an earlier run's pod terminating.
UNSCHEDULABLE_SECONDS = 30
BUILD = Path("build")
SITE, RUN_VALUES, YOUR_VALUES = BUILD / "site.yaml", BUILD / "site-run.yaml", BUILD / "run.yaml"
PICTURE_COLUMNS = 128
COLOURS = ("cyan", "magenta", "yellow", "blue")
# Debian's gloo logs every connection, whatever GLOO_LOG_LEVEL says.
CONNECTIONS = re.compile(r"\[\./gloo/\S+\] INFO ")
# The kubelet's message in place of new lines.
NO_WATCHER = "failed to create fsnotify watcher: too many open files"
WATCHERS_HINT = "as root: sysctl fs.inotify.max_user_instances=512, so that the cluster can follow every log"


class Road(StrEnum):
    """A kind of run: the API that the demo trains with."""

    PYTORCHJOB = PYTORCHJOB[1]
    TRAINJOB = TRAINJOB[1]

    @property
    def kind(self) -> Kind:
        """The kind with its API version."""
        return TRAINJOB if self is Road.TRAINJOB else PYTORCHJOB

    @property
    def builds(self) -> str:
        """The controllers that serve it, as `plan` names them."""
        return plan.KUBEFLOW_TRAINER if self is Road.TRAINJOB else plan.OPERATOR

    @property
    def release(self) -> tuple[str, str]:
        """Name and namespace of the release in which tests install these controllers."""
        if self is Road.TRAINJOB:
            return kubeflow_trainer.RELEASE, kubeflow_trainer.NAMESPACE
        return operator.RELEASE, operator.NAMESPACE

    def yours(self) -> tuple[str, ...]:
        """Return the commands that the demo leaves to the user."""
        started, logged = "condition=Ready pod/my-run-master-0", "my-run-master-0"
        if self is Road.TRAINJOB:
            # Its pods have random names, and `kubectl wait` fails for a selector that finds none yet.
            started = "jsonpath='{.status.jobsStatus[0].ready}'=1 trainjob/my-run"
            logged = f"-l {namespace.pods_of(TRAINJOB, 'my-run')},batch.kubernetes.io/job-completion-index=0 --tail=-1"
        return (
            f"trainyard lint {YOUR_VALUES}",
            f"helm install my-run charts/training-job --namespace {NAMESPACE} -f {RUN_VALUES} -f {YOUR_VALUES}",
            f"kubectl -n {NAMESPACE} get {self.lower()},pods,pvc",
            f"kubectl -n {NAMESPACE} wait --for={started} --timeout=2m",
            f"kubectl -n {NAMESPACE} logs -f {logged}",
            f"helm uninstall my-run --namespace {NAMESPACE}",
        )


CONTROLLERS = {Road.PYTORCHJOB: "the training operator", Road.TRAINJOB: "Kubeflow Trainer"}
STEPS = (
    "Create a kind cluster: 1 control plane, 2 workers, and a second network between them",
    "Install the platform (charts/training-platform): {controllers}, Multus, and a network for pods",
    "Train on two nodes over the second network (charts/training-job)",
    "Read the checkpoint from the shared volume, in a third pod",
    f"Install the same release again, up to epoch {MORE_EPOCHS}: it resumes from the last checkpoint",
    "Write your own run: the linter refuses a mistake before it costs time",
)
SITE_STEPS = 3  # With `--values` the demo ends after the run of these values.
MISTAKEN = """\
nodes: 2
train:
  args: [--epochs, 2, --checkpoint-dir, /checkpoints]
env:
  NCCL_IB_DISABLE: "true"
"""

output = Console(highlight=False, soft_wrap=True)


@dataclass(frozen=True)
class Terminal:
    """A shell for one cluster: a command is shown as a user types it, and then run in the folder."""

    cluster: Cluster
    folder: Path = field(default=ROOT)

    @property
    def exports(self) -> str:
        """The command that makes another shell equal to this one."""
        file = self.cluster.kubeconfig
        if file.is_relative_to(Path.home()):
            file = "~" / file.relative_to(Path.home())
        return f"export KUBECONFIG={file} PATH=$PWD/{BUILD}/bin:$PWD/.venv/bin:$PATH"

    def run(self, command: str, *, accepted: Sequence[int] = (0,), waiting: str = "") -> str:
        """Show and run a command; return its output, and raise `ClusterError` for another exit status.

        `waiting` is the title of a step for a command that takes long.
        """
        show(command)
        with progress.step(waiting) if waiting else nullcontext():
            return self._run(command, accepted)

    def _run(self, command: str, accepted: Sequence[int]) -> str:
        environment = {"KUBECONFIG": str(self.cluster.kubeconfig), "PATH": f"{_folders()}:{os.environ['PATH']}"}
        finished = subprocess.run(
            ["/bin/bash", "-c", command],
            cwd=self.folder,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        notes = finished.stderr.strip()
        if finished.returncode not in accepted:
            raise ClusterError(f"{' '.join(shlex.split(command)[:2])} failed:\n{notes or finished.stdout}")
        return finished.stdout.strip() or notes


def _folders() -> str:
    programs = [tools.binary("helm").parent, tools.binary("kubectl").parent, Path(sys.executable).parent]
    return ":".join(map(str, programs))


def say(number: int, road: Road, *, of: int) -> None:
    """Announce a step of the demo."""
    output.print(f"\n[bold]Step {number} of {of}: {STEPS[number - 1].format(controllers=CONTROLLERS[road])}[/]")


def show(command: str) -> None:
    """Show a command as a user types it."""
    output.print(f"[dim]$ {escape(command)}[/]")


def on_line(pod: str, line: str) -> None:
    """Print a line of a pod's log, each pod in a colour of its own."""
    if line == NO_WATCHER:
        progress.console.print(f"[bold]try:[/] {WATCHERS_HINT}")
    elif not CONNECTIONS.match(line):
        colour = COLOURS[sum(pod.encode()) % len(COLOURS)]
        output.print(f"[{colour}]{pod}[/] {escape(line)}")


def prepare(terminal: Terminal, engine: Engine, rail: str, road: Road) -> None:
    """Install the platform, and write down what it says that a run needs."""
    cluster = terminal.cluster
    image = Run(cluster, engine, NAMESPACE, RELEASE).image()
    site = platform.site(platform.images(cluster, engine, serves=road.kind), master=rail, image=image)
    (ROOT / SITE).write_text(f"# Written by `make demo`: {platform.SITE.name} with the images of this machine.\n{site}")
    # On a cluster of the harness the controllers are a release of their own.
    release, controllers = road.release
    helm = Helm(cluster.kubeconfig)
    owned = release in helm.run("list", "--short", "--namespace", controllers).split()
    helm.uninstall(release, namespace=controllers)
    taken = " --take-ownership" if owned else ""
    terminal.run(
        f"helm upgrade --install {platform.RELEASE} charts/{platform.CHART} --namespace {platform.NAMESPACE} "
        f"--create-namespace --wait{taken} -f {SITE}",
        waiting=f"waiting for {CONTROLLERS[road]}, and for Multus on every node",
    )
    kept = f"kubectl get configmap {platform.RUN_VALUES} --namespace {platform.NAMESPACE}"
    terminal.run(f"{kept} -o jsonpath='{{.data.run\\.yaml}}' > {RUN_VALUES}")


def train(run: Run, values: Sequence[Path], options: Sequence[str] = ()) -> None:
    """Install the release, stream its log until it has succeeded, and leave nothing behind when it does not."""
    kept_claim = _claim_exists(run)
    try:
        files = "".join(f" -f {shlex.quote(str(file))}" for file in values)
        more = "".join(f" {shlex.quote(option)}" for option in options)
        chart = f"charts/training-job --namespace {run.namespace} --create-namespace"
        Terminal(run.cluster).run(f"helm install {run.release} {chart}{files}{more}")
        outcome = run.follow(on_line=on_line, unschedulable_seconds=UNSCHEDULABLE_SECONDS)
        run.require_success(outcome)
    except BaseException:
        run.uninstall()
        if not kept_claim:
            api.kubectl(run.cluster.kubeconfig, "delete", "pvc", run.claim, "-n", run.namespace, "--ignore-not-found")
        raise
    placed = ", ".join(f"{pod} on {node}" for pod, node in sorted(outcome.nodes.items()))
    output.print(f"[green]succeeded[/] in {outcome.seconds:.0f} s: {placed}")


def prove(run: Run, sent: int) -> None:
    """Print the addresses of the pods on the second network, and the traffic between the nodes."""
    given = networks.addresses(api.connect(run.cluster.kubeconfig), run.namespace, run.selector)
    placed = ", ".join(f"{pod} {address}" for pod, address in sorted(given.items())) or "no pod"
    output.print(f"net1: {placed}; {sent / 2**20:.1f} MiB sent between the nodes")


def demo(cluster: Cluster, road: Road, values: list[Path]) -> None:
    """Run the whole demo."""
    steps = SITE_STEPS if values else len(STEPS)
    with plan.announced(cluster, road.builds):
        say(1, road, of=steps)
        engine = lifecycle.up(cluster)
        rail = rails.add(cluster, engine)
        tools.link(ROOT / BUILD / "bin", ("helm", "kubectl"))
        terminal = Terminal(cluster)
        show(terminal.exports)
        say(2, road, of=steps)
        # Runs of an earlier demo need its controllers to end.
        namespace.delete(cluster.kubeconfig, NAMESPACE)
        prepare(terminal, engine, rail, road)
    run = Run(cluster, engine, NAMESPACE, RELEASE, kind=road.kind)
    if output.record:
        output.export_text(clear=True)  # a picture begins with the first run
    say(3, road, of=steps)
    before = rails.sent(cluster, engine, rail)
    train(run, [RUN_VALUES, *values])
    prove(run, sum(rails.sent(cluster, engine, rail).values()) - sum(before.values()))
    if values:
        _finish(terminal, run)
        return
    say(4, road, of=steps)
    output.print(checkpoint.read(cluster.kubeconfig, NAMESPACE, run.claim, run.image()))
    say(5, road, of=steps)
    _uninstall(terminal, run)
    train(run, [RUN_VALUES], ["--set", f"train.args={{--epochs,{MORE_EPOCHS},--checkpoint-dir,/checkpoints}}"])
    _finish(terminal, run)
    say(6, road, of=steps)
    invite(terminal, road)


def invite(terminal: Terminal, road: Road) -> None:
    """Show a mistake in a run of the user, its fix, and the commands that start this run."""
    file = ROOT / YOUR_VALUES
    if not file.exists() or file.read_text() == corrected():
        file.write_text(MISTAKEN)
    output.print(terminal.run(f"cat {YOUR_VALUES}"))
    output.print(terminal.run(f"trainyard lint {YOUR_VALUES}", accepted=(0, 1)), markup=False)
    output.print(terminal.run(f"trainyard fix {YOUR_VALUES}", accepted=(0, 1)), markup=False)
    output.print(f"\n[bold]Now it is your turn[/]: edit {YOUR_VALUES}, then type in this folder:")
    for command in (terminal.exports, *road.yours(), "make down    # removes the cluster"):
        output.print(f"  {escape(command)}")


def corrected() -> str:
    """Return the mistaken values after `trainyard fix`."""
    return MISTAKEN.replace('"true"', '"1"')


def _uninstall(terminal: Terminal, run: Run) -> None:
    terminal.run(f"helm uninstall {run.release} --namespace {run.namespace} --wait --cascade foreground")
    run.uninstall()


def _finish(terminal: Terminal, run: Run) -> None:
    _uninstall(terminal, run)
    output.print("The pods, Services and ConfigMaps of the run are gone; its checkpoints stay.")


def _claim_exists(run: Run) -> bool:
    connection = api.connect(run.cluster.kubeconfig)
    return api.find(connection, "v1", "PersistentVolumeClaim", run.claim, run.namespace) is not None


def command(
    name: Annotated[str, typer.Option(help="The cluster's name.")] = DEFAULT_NAME,
    values: Annotated[
        list[Path] | None, typer.Option(exists=True, dir_okay=False, help="Values file for the run. Repeatable.")
    ] = None,
    kind: Annotated[Road, typer.Option(help="The kind of the runs.")] = Road.PYTORCHJOB,
    picture: Annotated[Path | None, typer.Option(help="SVG file for a picture of the output.")] = None,
) -> None:
    """Train on a real kind cluster, with the platform of a site and one release per run."""
    if picture is not None:
        # A picture has no scroll bar: long lines are folded.
        output.record, output.soft_wrap, output.width = True, False, PICTURE_COLUMNS
    demo(Cluster(name), kind, [file.resolve() for file in values or []])
    if picture is not None:
        picture.write_text(drawn(output))


def drawn(console: Console) -> str:
    """Return the recorded output as an SVG without the web fonts that rich refers to."""
    picture = console.export_svg(title="make demo")
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)


if __name__ == "__main__":
    sys.exit(exit_status(lambda: typer.run(command)))
