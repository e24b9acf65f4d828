{{/*
training-monitoring.dashboardLabels: the labels that Grafana's sidecar selects the dashboards by. Takes the root context.
*/}}
{{- define "training-monitoring.dashboardLabels" -}}
{{- .Values.dashboards.labels | default (dict "grafana_dashboard" "1") | toYaml -}}
{{- end -}}

{{/*
training-monitoring.limits: the colours of a panel's values, from which value on. Takes (dict "panel" <of the file>
"alerts" <.Values.alerts>).
*/}}
{{- define "training-monitoring.limits" -}}
{{- /* Without steps, Grafana paints every value above 80 red. */ -}}
{{- $steps := list (dict "color" (.panel.base | default "green") "value" nil) -}}
{{- range .panel.limits -}}
{{- $value := .value -}}
{{- with .alert -}}
{{- $path := splitList "." . -}}
{{- $value = get (get $.alerts (first $path)) (last $path) -}}
{{- end -}}
{{- $steps = append $steps (dict "color" .color "value" $value) -}}
{{- end -}}
{{- dict "mode" "absolute" "steps" $steps | toJson -}}
{{- end -}}

{{/*
training-monitoring.dashboard: Grafana's JSON of a dashboard. Takes (dict "name" <its name> "source" <content of its file>
"values" <.Values.dashboards> "alerts" <.Values.alerts>).
*/}}
{{- define "training-monitoring.dashboard" -}}
{{- $datasource := dict "type" "prometheus" "uid" "${datasource}" -}}
{{- $chosen := dict "text" .values.datasource "value" .values.datasource -}}
{{- $variables := list (dict "type" "datasource" "name" "datasource" "label" "Prometheus" "query" "prometheus" "current" $chosen) -}}
{{- range .source.variables -}}
{{- $query := dict "query" .query "refId" .name -}}
{{- $variables = append $variables (dict "type" "query" "name" .name "label" .label "query" $query "datasource" $datasource
    "refresh" 2 "sort" 1) -}}
{{- end -}}
{{- $panels := list -}}
{{- $y := 0 -}}
{{- range $part := .source.rows -}}
{{- $place := dict "x" 0 "y" $y "w" 24 "h" 1 -}}
{{- $panels = append $panels (dict "type" "row" "title" $part.title "id" (len $panels | add1) "gridPos" $place "collapsed" false "panels" list) -}}
{{- $width := div 24 (len $part.panels) -}}
{{- /* A number needs half the height of a graph. */ -}}
{{- $height := ternary 4 8 (eq (first $part.panels).type "stat") -}}
{{- range $column, $panel := $part.panels -}}
{{- $targets := list -}}
{{- range $number, $query := $panel.queries -}}
{{- $target := dict "refId" (printf "%c" (int (add 65 $number))) "datasource" $datasource "expr" $query.expr "legendFormat" $query.legend -}}
{{- if eq $panel.type "stat" -}}
{{- /* The last value of a range may be hours old, such as that of an alert that has ended. */ -}}
{{- $_ := set (set $target "instant" true) "range" false -}}
{{- end -}}
{{- $targets = append $targets $target -}}
{{- end -}}
{{- $place := dict "x" (mul $column $width) "y" (add1 $y) "w" $width "h" $height -}}
{{- $limits := include "training-monitoring.limits" (dict "panel" $panel "alerts" $.alerts) | fromJson -}}
{{- $defaults := dict "unit" ($panel.unit | default "short") "thresholds" $limits -}}
{{- $defaults = merge $defaults (pick $panel "min" "max" "noValue") -}}
{{- if and $panel.limits (ne $panel.type "stat") -}}
{{- $_ := set $defaults "custom" (dict "thresholdsStyle" (dict "mode" "dashed+area")) -}}
{{- end -}}
{{- $field := dict "defaults" $defaults "overrides" list -}}
{{- /* Otherwise Grafana shows the name of a value only beside others. */ -}}
{{- $options := ternary (dict "textMode" "value_and_name") dict ($panel.named | default false) -}}
{{- $panels = append $panels (dict "type" ($panel.type | default "timeseries") "title" $panel.title "id" (len $panels | add1)
    "description" ($panel.description | default "") "gridPos" $place "datasource" $datasource "targets" $targets
    "fieldConfig" $field "options" $options) -}}
{{- end -}}
{{- $y = add $y 1 $height -}}
{{- end -}}
{{- dict "uid" (printf "trainyard-%s" .name) "title" .source.title "tags" (list "trainyard") "editable" false "schemaVersion" 39
    "time" (dict "from" "now-3h" "to" "now") "refresh" .values.refresh "templating" (dict "list" $variables) "panels" $panels
    | toPrettyJson -}}
{{- end -}}
