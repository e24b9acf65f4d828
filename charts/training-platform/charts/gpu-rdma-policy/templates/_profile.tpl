{{/*
Settings of each profile, which the values override. `rdma_shared_device_a` is the resource that the profiles of the
same name in the chart training-job request.
*/}}

{{- define "gpu-rdma-policy.profile.none" -}}
gpu: false
gpuDirect: none
gdrcopy: false
network: false
driver: inbox
nvIpam: false
linkType: ""
sharedDevices: []
{{- end -}}

{{- define "gpu-rdma-policy.profile.onprem-ib" -}}
gpu: true
gpuDirect: dmabuf
gdrcopy: true
network: true
driver: doca
nvIpam: true
linkType: ib
sharedDevices:
  - name: rdma_shared_device_a
    linkTypes: [infiniband]
{{- end -}}

{{- define "gpu-rdma-policy.profile.onprem-roce" -}}
gpu: true
gpuDirect: dmabuf
gdrcopy: true
network: true
driver: doca
nvIpam: true
linkType: eth
sharedDevices:
  - name: rdma_shared_device_a
    linkTypes: [ether]
{{- end -}}

{{/*
gpu-rdma-policy.settings: the settings of the profile, overridden by the values, as JSON. Takes the root context.
*/}}
{{- define "gpu-rdma-policy.settings" -}}
{{- include "gpu-rdma-policy.checkValues" . -}}
{{- $settings := include (printf "gpu-rdma-policy.profile.%s" .Values.profile) . | fromYaml -}}
{{- /* The GDRCopy module is loaded together with the driver. */}}
{{- $_ := set $settings "gdrcopy" (and $settings.gdrcopy .Values.gpu.driver.enabled) -}}
{{- $given := dict "gpu" .Values.gpu.enabled "gpuDirect" .Values.gpu.gpuDirect "gdrcopy" .Values.gpu.gdrcopy
    "network" .Values.network.enabled "driver" .Values.network.driver "nvIpam" .Values.network.nvIpam
    "sharedDevices" .Values.rdma.sharedDevices -}}
{{- range $key, $value := $given -}}
{{- if not (kindIs "invalid" $value) -}}{{- $_ := set $settings $key $value -}}{{- end -}}
{{- end -}}
{{- toJson $settings -}}
{{- end -}}
