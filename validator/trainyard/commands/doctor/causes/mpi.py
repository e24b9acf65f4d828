"""Messages of Open MPI, and of Horovod on top of it."""

from __future__ import annotations

from trainyard.commands.doctor.cause import Cause, Level, Sign

_OPERATOR = "github.com/kubeflow/mpi-operator issue 152"

CAUSES = (
    Cause(
        name="mpi-no-slots",
        title="mpirun has fewer slots than processes",
        signs=(Sign("There are not enough slots available"),),
        explanation="-np exceeds the slots of all workers in the host file.",
        remedy="Set slotsPerWorker and -np so that workers times slots is the number of processes.",
        source="github.com/open-mpi/ompi issue 3133",
        rules=("mpijob-np-mismatch",),
    ),
    Cause(
        name="mpi-mapping-failed",
        title="mpirun cannot place the processes on the nodes",
        signs=(Sign("Your job failed to map"),),
        explanation="The options of the mapping (--map-by, --bind-to, rank files) and the host list contradict each "
        "other, or the host list has no node that mpirun may use.",
        remedy="Compare -H or the host file with the names of the nodes; leave --map-by and --bind-to out once.",
        source="github.com/horovod/horovod issue 2097",
    ),
    Cause(
        name="mpi-init-failed",
        title="a process of MPI failed while it started",
        signs=(
            Sign("An error occurred in MPI_Init"),
            Sign("Local abort before MPI_INIT completed"),
            Sign("It looks like MPI_INIT failed for some reason"),
        ),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="The versions of MPI in the pods differ, a process was not started by mpirun, or no network "
        "between the pods works. The reason stands above these lines, or in another process.",
        remedy="Compare mpirun --version in all pods; run mpirun hostname and then a program without GPUs; name the "
        "interface (--mca btl_tcp_if_include eth0).",
        source="github.com/horovod/horovod issue 465",
    ),
    Cause(
        name="mpi-session-directory",
        title="Open MPI cannot create its session directory",
        signs=(
            Sign("A call to mkdir was unable to create the desired directory"),
            Sign("unable to create session dir"),
        ),
        explanation="/tmp of the container is full, read-only or belongs to another user, or two launchers in one "
        "process namespace remove each other's directory.",
        remedy="Set OMPI_MCA_orte_tmpdir_base (Open MPI 5: PRTE_MCA_prte_tmpdir_base) to a folder of the pod's own.",
        source="github.com/NVIDIA-NeMo/Speech issue 11724",
    ),
    Cause(
        name="mpi-daemon-not-started",
        title="mpirun cannot start its daemon on a worker",
        signs=(
            Sign("unable to reliably start one or more daemons"),
            Sign("daemon has unexpectedly failed after launch"),
            Sign("ssh: Could not resolve hostname"),
            Sign("ssh: connect to host"),
            Sign("Host key verification failed"),
            Sign("Permission denied (publickey"),
        ),
        confidence="medium",
        explanation="A worker does not run yet, sshd is missing in it, its key or name is wrong, or MPI is "
        "not on its PATH.",
        remedy="Check that all workers run sshd; let the launcher wait for them (launcherCreationPolicy: "
        "WaitForWorkersReady).",
        source=_OPERATOR,
    ),
    Cause(
        name="mpi-executable-missing",
        title="mpirun does not find the program",
        signs=(
            Sign("mpirun was unable to find the specified executable file"),
            Sign("unable to launch the specified application as it could not"),
        ),
        explanation="The program is not in the image, not on PATH, or not executable.",
        remedy="Name the program by its path, or start it by its interpreter: mpirun ... python train.py.",
        source="github.com/horovod/horovod issue 347",
    ),
    Cause(
        name="mpi-run-as-root",
        title="mpirun does not run as root",
        signs=(Sign("has detected an attempt to run as root"),),
        explanation="Open MPI refuses to start as user 0 without an explicit option.",
        remedy="Run the container as another user, or add --allow-run-as-root.",
        source="github.com/open-mpi/ompi orte/tools/orterun/help-orterun.txt",
    ),
    Cause(
        name="mpi-connect-failed",
        title="processes of MPI cannot connect with each other",
        signs=(
            Sign("Open MPI failed to TCP connect to a peer MPI process"),
            Sign("btl_tcp_endpoint", r"connect\(\) to \S+ failed"),
        ),
        confidence="medium",
        messages=("Open MPI failed to TCP connect to a peer MPI process",),
        explanation="Open MPI chose an interface that the other pods cannot reach, or a firewall closes the ports.",
        remedy="Name the interface of the pod network: --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0.",
        source="github.com/open-mpi/ompi opal/mca/btl/tcp/help-mpi-btl-tcp.txt",
    ),
    Cause(
        name="mpi-process-failed",
        title="a process of mpirun ended with an error",
        signs=(
            Sign("Process name: [["),
            Sign("MPI_ABORT was invoked on rank"),
            Sign("process returned a non-zero exit code"),
        ),
        level=Level.CONSEQUENCE,
        confidence="medium",
        explanation="mpirun ends all processes after the first one that fails. The message names its rank.",
        remedy="Read the output of that rank; mpirun --tag-output marks each line with it.",
        source="github.com/horovod/horovod issue 410",
    ),
    Cause(
        name="mpi-daemon-lost",
        title="mpirun lost a worker",
        signs=(
            Sign("has lost communication with a remote daemon"),
            Sign("does not know how to route a message to the specified daemon"),
        ),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="The pod or node of the worker has ended; the message names it.",
        remedy="Read the events and the log of that worker.",
        source=_OPERATOR,
    ),
    Cause(
        name="horovod-shut-down",
        title="Horovod was shut down by a rank that failed",
        signs=(Sign("Horovod has been shut down"),),
        level=Level.CONSEQUENCE,
        confidence="low",
        explanation="Another rank raised an exception or ended first; then Horovod stops on all ranks.",
        remedy="Find the exception above the first of these messages, in the output of all ranks.",
        source="github.com/horovod/horovod issue 1421",
    ),
    Cause(
        name="horovod-stalled",
        title="ranks wait for a tensor that another rank does not send",
        signs=(Sign("One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks"),),
        level=Level.CONSEQUENCE,
        confidence="low",
        messages=("One or more tensors were submitted to be reduced ... by subset of ranks",),
        explanation="One rank has failed, cannot be reached, or runs other operations. `Stalled ranks` and "
        "`missing ranks` name it.",
        remedy="Read the log of the missing rank; check that all ranks run the same steps.",
        source="github.com/polyaxon/polyaxon issue 657",
    ),
)
