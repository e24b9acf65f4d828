"""Options of the programs that start MPI jobs, without their dashes, with the number of values that follow each.

Sources: openpmix/prrte src/mca/schizo/ompi/schizo_ompi.c: ompioptions; Open MPI 4.1 orte/orted/orted_submit.c and
orte/mca/schizo/ompi/schizo_ompi.c: cmd_line_init; pmodels/mpich src/pm/hydra/mpiexec/options.c: match table. Words of
`--bind-to` and `--map-by`: Open MPI 4.1 opal/mca/hwloc/base/hwloc_base_frame.c (opal_hwloc_base_set_binding_policy) and
orte/mca/rmaps/base/rmaps_base_frame.c; openpmix/prrte src/hwloc/hwloc.c and src/mca/rmaps/base/rmaps_base_frame.c.
"""

from __future__ import annotations

_PAIRS = "mca gmca omca gomca prtemca gprtemca pmixmca gpmixmca"
_VALUED = """
np n c N npernode npersocket ppr host H hostfile machinefile default-hostfile x wdir wd path output output-filename
output-directory tune am amca rankfile rf map-by rank-by bind-to cpu-set cpu-list slot-list cpus-per-proc cpus-per-rank
launch-agent prefix app-prefix timeout spawn-timeout stdin personality report-uri report-pid tmpdir dvm ompi-server
server-wait-time max-vm-size xterm stop-in-app preload-files preload-files-dest-dir runtime-options rtos display
forward-signals pset with-ft initial-errhandler memory-alloc-kinds mem-alloc-kind gpu-support stream-buffering
display-topo debugger app appfile file arch max-restarts hnp xml-file do-not-resolve num-connect-retries
fwd-environment set-env prepend-env append-env unset-env max-slots output-proctable
"""
_FLAGS = """
h help V version v verbose q quiet allow-run-as-root bynode byslot bycore bysocket byboard bind-to-core bind-to-socket
bind-to-none bind-to-board pernode nolocal nooversubscribe oversubscribe use-hwthread-cpus use-hwthreads-as-cpus
report-bindings display-map display-allocation display-devel-map display-devel-allocation display-diffable-map
tag-output timestamp-output xml merge-stderr-to-stdout disable-recovery enable-recovery continuous do-not-launch
show-progress debug-daemons debug-daemons-file debug-devel debug d leave-session-attached noprefix no-app-prefix tv
index-argv-by-rank hetero-nodes homogeneous novm preload-binary s get-stack-traces report-state-on-timeout stop-on-exec
stop-in-init parseable parsable p report-child-jobs-separately display-comm display-comm-finalize soft staged set-sid
no-ready-msg daemonize system-server do-not-connect wait-to-connect wait-for-server enable-instant-on-support
fwd-mpirun-port do-not-aggregate-help stop-in-app-init nooversub
"""
OPEN_MPI: dict[str, int] = {
    **dict.fromkeys(_PAIRS.split(), 2),
    **dict.fromkeys(_VALUED.split(), 1),
    **dict.fromkeys(_FLAGS.split(), 0),
}
# Options that Open MPI alone has, and everybody uses.
OPEN_MPI_ONLY = frozenset((
    "mca", "allow-run-as-root", "map-by", "tag-output", "npernode", "x", "oversubscribe", "bind-to-core", "H",
))  # fmt: skip
# Places of a node, of all releases of Open MPI: later ones also take the beginning of a word, and longer words.
_LEVELS = ("hwthread", "core", "l1cache", "l2cache", "l3cache", "socket", "package", "numa", "board")
PLACEMENT: dict[str, tuple[str, ...]] = {
    "bind-to": ("none", *_LEVELS),
    "map-by": (
        "slot", *_LEVELS, "node", "seq", "sequential", "ppr", "rankfile", "dist", "mindist", "device", "pe-list",
    ),
    "rank-by": ("slot", "node", "fill", "span", *_LEVELS),
}  # fmt: skip
# What `ppr:N:RESOURCE` counts the processes of.
RESOURCES = (*_LEVELS, "node")
_HYDRA_VALUED = """
env envlist genv genvlist f hostfile machinefile machine machines machinelist host hosts hostlist rankmap ppn profile
prepend-pattern outfile-pattern errfile-pattern outfile errfile wdir configfile n np memory-alloc-kinds launcher
launcher-exec bootstrap bootstrap-exec enable-x disable-x rmk topolib binding bind-to map-by membind demux
gpus-per-proc gpu-subdevs-per-proc iface localhost nameserver order-nodes pmi-port usize g
"""
_HYDRA_FLAGS = """
help h genvnone genvall envnone envall output-from prepend-rank l report-bindings debug disable-auto-cleanup
disable-hostname-propagation enable-auto-cleanup enable-hostname-propagation hybrid-hosts info print-all-exitcodes
skip-launch-node v verbose version pmi_args
"""
HYDRA: dict[str, int] = {**dict.fromkeys(_HYDRA_VALUED.split(), 1), **dict.fromkeys(_HYDRA_FLAGS.split(), 0)}
HYDRA["env"] = HYDRA["genv"] = 2
