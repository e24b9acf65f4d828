{{/*
training-monitoring.dashboardLabels: the labels that Grafana's sidecar selects the dashboards by. Takes the root context.
*/}}
{{- define "training-monitoring.dashboardLabels" -}}
{{- .Values.dashboards.labels | default (dict "grafana_dashboard" "1") | toYaml -}}
{{- end -}}

{{/*
training-monitoring.dashboard: Grafana's JSON of a dashboard. Takes (dict "name" <its name> "source" <content of its file>
"values" <.Values.dashboards>).
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
{{- $targets = append $targets (dict "refId" (printf "%c" (int (add 65 $number))) "datasource" $datasource "expr" $query.expr "legendFormat" $query.legend) -}}
{{- end -}}
{{- $place := dict "x" (mul $column $width) "y" (add1 $y) "w" $width "h" $height -}}
{{- /* Without steps, Grafana paints every value above 80 red. */ -}}
{{- $steps := prepend ($panel.limits | default list) (dict "color" "green" "value" nil) -}}
{{- $defaults := dict "unit" ($panel.unit | default "short") "thresholds" (dict "mode" "absolute" "steps" $steps) -}}
{{- with $panel.noValue -}}
{{- $_ := set $defaults "noValue" . -}}
{{- end -}}
{{- $field := dict "defaults" $defaults "overrides" list -}}
{{- $panels = append $panels (dict "type" ($panel.type | default "timeseries") "title" $panel.title "id" (len $panels | add1)
    "description" ($panel.description | default "") "gridPos" $place "datasource" $datasource "targets" $targets
    "fieldConfig" $field) -}}
{{- end -}}
{{- $y = add $y 1 $height -}}
{{- end -}}
{{- dict "uid" (printf "trainyard-%s" .name) "title" .source.title "tags" (list "trainyard") "editable" false "schemaVersion" 39
    "time" (dict "from" "now-3h" "to" "now") "refresh" .values.refresh "templating" (dict "list" $variables) "panels" $panels
    | toPrettyJson -}}
{{- end -}}
