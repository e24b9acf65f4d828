{{/*
Connection of an MPIJob to its Workers. In v2beta1 they run sshd, and the operator mounts the run's own key into every pod;
in v1 they sleep, and the operator's script stands in for ssh: it is `kubectl exec`. All that ssh and sshd must know is
on their command lines, so that an image needs no configuration of them, only the programs and a user that its
/etc/passwd knows.
*/}}

{{/*
training-job.mpirun: mpirun with its options, as a YAML list. `env` stands before it because what it sets comes after
what the operator adds to the container: that knows no port of ours, has another name for MPICH's variable than MPICH,
and none for Open MPI 5, which reads PRTE_MCA_* where Open MPI 4 reads OMPI_MCA_*. Open MPI 5 hands such a value on to
its daemons only up to the second `=`, so they must not use ssh in turn; in v1 no daemon can, because only the launcher
has kubectl. Ranks get an environment from sshd that has neither the image's variables nor the container's: each is
named. A field that differs from pod to pod is not, because all ranks would get that of the launcher. Takes the root
context.
*/}}
{{- define "training-job.mpirun" -}}
{{- $mpi := .Values.mpi -}}
{{- $processes := include "training-job.processes" . | int64 -}}
{{- $own := concat (keys .Values.envSecrets) (include "common.fabric.variables" . | fromYaml | keys) -}}
{{- range $name, $value := .Values.env -}}
{{- if not (and (kindIs "map" $value) (regexMatch (include "training-job.fieldOfOnePod" $) (toJson $value))) -}}
{{- $own = append $own $name -}}
{{- end -}}
{{- end -}}
{{- range include "training-job.flightRecorderEnv" . | fromYamlArray -}}
{{- $own = append $own .name -}}
{{- end -}}
{{- $names := concat ($mpi.imageVariables | default list) $own | uniq | sortAlpha -}}
{{- $options := list "-p" ($mpi.ssh.port | int64 | toString) "-i" (printf "%s/id_rsa" $mpi.ssh.mountPath)
    "-o StrictHostKeyChecking=no" "-o UserKnownHostsFile=/dev/null" "-o LogLevel=ERROR" "-o ConnectionAttempts=10" -}}
{{- $ssh := join " " $options -}}
{{- $variables := dict "OpenMPI" (list "OMPI_MCA_plm_rsh_args" "PRTE_MCA_plm_ssh_args")
    "Intel" (list "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS") "MPICH" (list "HYDRA_LAUNCHER_EXTRA_ARGS") -}}
- env
{{- if eq (include "training-job.operator" .) "mpi-operator" }}
{{- range index $variables $mpi.implementation }}
- {{ printf "%s=%s" . $ssh | include "common.literal" }}
{{- end }}
{{- else }}
- PRTE_MCA_plm_ssh_agent=/etc/mpi/kubexec.sh
- OMPI_MCA_plm_rsh_no_tree_spawn=true
{{- end }}
{{- if eq $mpi.implementation "OpenMPI" }}
- PRTE_MCA_plm_ssh_no_tree_spawn=true
{{- end }}
{{- range $mpi.command }}
- {{ include "common.literal" . }}
{{- end }}
{{- if eq $mpi.implementation "OpenMPI" }}
- --hostfile
- /etc/mpi/hostfile
- -np
- {{ mul $processes .Values.nodes | quote }}
- --map-by
- ppr:{{ $processes }}:node
{{- if not (has "--bind-to" ($mpi.args | default list)) }}
- --bind-to
- none
{{- end }}
{{- if include "training-job.isRoot" . }}
- --allow-run-as-root
{{- end }}
{{- range $names }}
- -x
- {{ include "common.literal" . }}
{{- end }}
{{- else }}
{{- if eq $mpi.implementation "MPICH" }}
- -localhost
- $(TRAINYARD_LAUNCHER_IP)
{{- end }}
- -f
- /etc/mpi/hostfile
- -n
- {{ mul $processes .Values.nodes | quote }}
- -ppn
- {{ $processes | quote }}
- -genvlist
- {{ join "," $names | include "common.literal" }}
{{- end }}
{{- range $mpi.args }}
- {{ include "common.literal" . }}
{{- end }}
{{- end -}}

{{/* training-job.fieldOfOnePod: the pattern of a variable from a field of the pod that no other pod has, as JSON. */}}
{{- define "training-job.fieldOfOnePod" -}}
"fieldPath":"(metadata[.](name|uid)|metadata[.]labels..[^']*-index'.|spec[.]nodeName|status[.](podIP|hostIP)s?)"
{{- end -}}

{{/*
training-job.launcherEnv: what the launcher needs beside the program's environment, as YAML. The daemons of Hydra, which
is mpirun in MPICH and Intel MPI, connect back to the launcher by its host name, which DNS does not know until the pod
is Ready and has been noticed: in MPICH each asks once (HYDU_sock_connect in src/pm/hydra/lib/utils/sock.c of v4.2.1).
There the option -localhost gives them the address; Intel's has that option too and passes it over, as seen in 2021.19,
but takes the address of an interface, which is eth0 in every pod with a network of its own. Open MPI 4 copies between
the processes of a pod by process_vm_readv, for which they may have no right, and then says so for each message; Open
MPI 5 has no such parameter. Takes what `training-job.pod` takes.
*/}}
{{- define "training-job.launcherEnv" -}}
{{- if eq .role "Launcher" -}}
{{- $values := .root.Values -}}
{{- $defaults := dict "OpenMPI" (dict "OMPI_MCA_btl_vader_single_copy_mechanism" "none")
    "Intel" (ternary (dict) (dict "I_MPI_HYDRA_IFACE" "eth0") $values.fabric.hostNetwork) -}}
{{- $fabric := include "common.fabric.variables" .root | fromYaml -}}
{{- range $name, $value := get $defaults $values.mpi.implementation | default dict }}
{{- if not (or (hasKey $values.env $name) (hasKey $values.envSecrets $name) (hasKey $fabric $name)) }}
- name: {{ $name }}
  value: {{ $value }}
{{- end }}
{{- end }}
{{- if eq $values.mpi.implementation "MPICH" }}
- name: TRAINYARD_LAUNCHER_IP
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
{{- end }}
{{- end }}
{{- end -}}

{{/*
training-job.sshd: sshd in the foreground, as a YAML list; nothing for v1, where the operator fills in `sleep`. It runs
as the pod's user, so it needs a port above 1023, no file of its own, and the operator's key as its host key. The key
lies in a Secret, whose modes are not those that sshd asks for. Takes the root context.
*/}}
{{- define "training-job.sshd" -}}
{{- $ssh := .Values.mpi.ssh -}}
{{- if eq (include "training-job.operator" .) "mpi-operator" -}}
- {{ include "common.literal" $ssh.daemon }}
- -De
- -f
- /dev/null
- -p
- {{ int64 $ssh.port | quote }}
{{- range list
    (printf "HostKey=%s/id_rsa" $ssh.mountPath)
    (printf "AuthorizedKeysFile=%s/authorized_keys" $ssh.mountPath)
    "StrictModes=no"
    "PidFile=none" }}
- -o
- {{ include "common.literal" . }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
training-job.sshdProbe: the field of a container that says when sshd listens there, as YAML. The launcher comes when all
Workers are ready; a readiness probe would go on to knock, and fill sshd's log. Takes the root context.
*/}}
{{- define "training-job.sshdProbe" -}}
startupProbe:
  tcpSocket:
    port: ssh
  periodSeconds: 1
  failureThreshold: 60
{{- end -}}

{{/*
training-job.sshdSecurity: the container's security context for sshd, as YAML. The images of kubeflow/mpi-operator mark
sshd with the file capability NET_BIND_SERVICE, and the kernel starts such a file only where that may be had. The Pod
Security level `restricted` allows it. The sshd of root also separates its privileges, by chroot and another user, and ends
each connection if it cannot. The level `baseline` allows that. Takes the root context.
*/}}
{{- define "training-job.sshdSecurity" -}}
{{- $context := deepCopy (.Values.securityContext | default dict) -}}
{{- with $context.capabilities -}}
{{- $root := ternary (list "SYS_CHROOT" "SETUID" "SETGID") list (eq (include "training-job.isRoot" $) "true") -}}
{{- $_ := concat (.add | default list) (list "NET_BIND_SERVICE") $root | uniq | set . "add" -}}
{{- end -}}
{{- toYaml $context -}}
{{- end -}}

{{/* training-job.isRoot: "true" when the values make the pods' user root. Takes the root context. */}}
{{- define "training-job.isRoot" -}}
{{- $user := get (.Values.podSecurityContext | default dict) "runAsUser" -}}
{{- if and (not (kindIs "string" $user)) (not (kindIs "invalid" $user)) (eq (int64 $user) 0) -}}true{{- end -}}
{{- end -}}

{{/*
training-job.podSecurityContext: the security context of the pods. Takes the root context. With an fsGroup, Kubernetes makes
the SSH key readable for that group, and ssh ignores such a key of root, who needs no group.
*/}}
{{- define "training-job.podSecurityContext" -}}
{{- $context := .Values.podSecurityContext | default dict -}}
{{- if and (eq .Values.kind "MPIJob") (include "training-job.isRoot" .) -}}
{{- $context = omit $context "fsGroup" "fsGroupChangePolicy" -}}
{{- end -}}
{{- toYaml $context -}}
{{- end -}}

{{/* training-job.checkMpi: fails for values that cannot produce a working MPIJob. Takes the root context. */}}
{{- define "training-job.checkMpi" -}}
{{- $mpi := .Values.mpi -}}
{{- if not (has .Values.restartPolicy (list "OnFailure" "Never")) -}}
{{- fail (printf "restartPolicy: an MPIJob takes OnFailure or Never, not %s" .Values.restartPolicy) -}}
{{- end -}}
{{- if eq (include "training-job.operator" .) "training-operator" -}}
{{- $advice := "requires mpi.apiVersion kubeflow.org/v2beta1" -}}
{{- if .Values.scheduling.queue.name -}}
{{- fail (printf "scheduling.queue: Kueue does not support MPIJob v1; a queue %s" $advice) -}}
{{- end -}}
{{- if ne $mpi.implementation "OpenMPI" -}}
{{- fail (printf "mpi.implementation: %s %s; v1 writes host files for OpenMPI only" $mpi.implementation $advice) -}}
{{- end -}}
{{- if $mpi.launcher.asWorker -}}
{{- fail (printf "mpi.launcher.asWorker %s" $advice) -}}
{{- end -}}
{{- else if and $mpi.launcher.asWorker (ne $mpi.implementation "OpenMPI") -}}
{{- $reason := printf "mpirun of %s does not recognize its own host in the host file and would need sshd there" $mpi.implementation -}}
{{- fail (printf "mpi.launcher.asWorker requires mpi.implementation OpenMPI; %s" $reason) -}}
{{- else if eq (toString .Values.runPolicy.managedBy) "kubeflow.org/training-operator" -}}
{{- fail "runPolicy.managedBy: the MPI operator runs this MPIJob; write null, or mpi.apiVersion kubeflow.org/v1" -}}
{{- else if and (include "training-job.isRoot" .) (ne $mpi.ssh.mountPath "/root/.ssh") -}}
{{- $reason := "the operator protects root's key only at /root/.ssh, and ssh ignores a key that others can read" -}}
{{- fail (printf "mpi.ssh.mountPath: %s; write /root/.ssh, or another podSecurityContext.runAsUser" $reason) -}}
{{- end -}}
{{- end -}}
