{{/*
Connection of the launcher of an MPI run to the other nodes, by ssh. Trainer mounts a key of the TrainJob into every pod. All
that ssh and sshd must know is on their command lines, so that an image needs no configuration of them.
*/}}

{{/*
training-runtimes.sshd: sshd in the foreground, as a YAML list. It runs as the pod's user, so it needs a port above 1023 and
the TrainJob's key as its host key. The key is in a Secret, whose modes are not those that sshd asks for. Takes the root
context.
*/}}
{{- define "training-runtimes.sshd" -}}
- /usr/sbin/sshd
- -De
- -f
- /dev/null
- -p
- "2222"
{{- range list "HostKey=/home/mpiuser/.ssh/id_rsa" "AuthorizedKeysFile=/home/mpiuser/.ssh/authorized_keys"
    "StrictModes=no" "PidFile=none" }}
- -o
- {{ . }}
{{- end }}
{{- end -}}

{{/*
training-runtimes.launcherEnv: settings of Open MPI for mpirun, because the SDK writes its command line. Trainer owns the
variable of ssh's arguments, so they stand in the name of the program. Open MPI 5 reads PRTE_MCA_* where Open MPI 4 reads
OMPI_MCA_*. Ranks get an environment from sshd that lacks the container's: each variable is named. mpirun of Open MPI 5 ends with an
error about the command line if one of them does not exist. Takes the root context.
*/}}
{{- define "training-runtimes.launcherEnv" -}}
{{- $ssh := list "ssh" "-p" "2222" "-i" "/home/mpiuser/.ssh/id_rsa" "-o" "StrictHostKeyChecking=no" "-o"
    "UserKnownHostsFile=/dev/null" "-o" "LogLevel=ERROR" | join " " -}}
{{- $fabric := include "common.fabric.variables" . | fromYaml -}}
{{- $names := concat (list "PATH") (keys .Values.env) (keys .Values.envSecrets) (keys $fabric) | uniq -}}
{{- $settings := dict "OMPI_MCA_plm_rsh_agent" $ssh "PRTE_MCA_plm_ssh_agent" $ssh
    "OMPI_MCA_plm_rsh_no_tree_spawn" "true" "PRTE_MCA_plm_ssh_no_tree_spawn" "true"
    "OMPI_MCA_mca_base_env_list" (sortAlpha $names | join ";")
    "OMPI_MCA_hwloc_base_binding_policy" "none" "PRTE_MCA_hwloc_default_binding_policy" "none"
    "OMPI_MCA_btl_vader_single_copy_mechanism" "none" -}}
{{- range $name, $value := $settings }}
{{- if not (or (hasKey $.Values.env $name) (hasKey $.Values.envSecrets $name)) }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end -}}
