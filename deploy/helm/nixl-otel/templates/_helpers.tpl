{{- define "nixl-otel.fullname" -}}
{{- if contains "nixl-otel" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}{{ printf "%s-nixl-otel" .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "nixl-otel.selectorLabels" -}}
app.kubernetes.io/name: nixl-otel
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "nixl-otel.labels" -}}
{{ include "nixl-otel.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{/* The PodMonitor selects this label. */}}
{{- define "nixl-otel.scrapeLabel" -}}
nixl-otel/scrape: 'true'
{{- end }}

{{- define "nixl-otel.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (ternary (include "nixl-otel.fullname" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "nixl-otel.image" -}}
{{- $repository := required "image.repository is not set: name registry and image, for example registry.example.com/nixl-otel; there is no public image" .Values.image.repository -}}
{{- $version := printf ":%s" (.Values.image.tag | default .Chart.AppVersion) -}}
image: {{ $repository }}{{ ternary (printf "@%s" .Values.image.digest) $version (ne .Values.image.digest "") }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{/* daemonset or sidecar. Workers of Dynamo get a sidecar. */}}
{{- define "nixl-otel.mode" -}}
{{- .Values.mode | default (ternary "sidecar" "daemonset" .Values.dynamo) }}
{{- end }}

{{/* Port of the HTTP server. */}}
{{- define "nixl-otel.port" -}}
{{ .Values.port | default (ternary 19090 9464 .Values.dynamo) | int }}
{{- end }}

{{/* Its name. Dynamo's operator declares 19090 as `nixl` on the container of the worker; nixl-otel declares any other port. */}}
{{- define "nixl-otel.portName" -}}
{{ ternary "nixl" "metrics" (and .Values.dynamo (eq (include "nixl-otel.port" .) "19090")) }}
{{- end }}

{{/* Not empty if the `env` of the values has the variable. The arguments are the context, and its name. */}}
{{- define "nixl-otel.gives" -}}
{{- $name := index . 1 }}
{{- range (index . 0).Values.env }}{{ if eq .name $name }}yes{{ end }}{{ end }}
{{- end }}

{{/* Not empty if the arguments or variables may set --dead-ttl. */}}
{{- define "nixl-otel.setsDeadTtl" -}}
{{- range .Values.args }}{{ if regexMatch "^--(dead-ttl|config)(=|$)" . }}yes{{ end }}{{ end }}
{{- range list "NIXL_TELEMETRY_MP_STALE_TTL" "NIXL_OTEL_CONFIG" }}{{ include "nixl-otel.gives" (list $ .) }}{{ end }}
{{- end }}

{{/* Refuses values that contradict each other; values.schema.json refuses the others. */}}
{{- define "nixl-otel.check" -}}
{{- $sidecar := eq (include "nixl-otel.mode" .) "sidecar" }}
{{- if and .Values.dynamo (not $sidecar) }}
{{- fail "mode is daemonset, and dynamo: true needs mode sidecar: leave mode out" }}
{{- end }}
{{- if and .Values.sidecar.demo (not $sidecar) }}
{{- fail "sidecar.demo: true needs mode: sidecar" }}
{{- end }}
{{- if and $sidecar .Values.sidecar.native (semverCompare "<1.29.0-0" .Capabilities.KubeVersion.Version) }}
{{- fail (printf "sidecar.native: true needs Kubernetes 1.29; this is %s" .Capabilities.KubeVersion.Version) }}
{{- end }}
{{- if and .Values.agents.severalUsers $sidecar }}
{{- fail "agents.severalUsers: true needs mode: daemonset; a sidecar reads the rings of one user" }}
{{- end }}
{{- if and .Values.image.tag .Values.image.digest }}
{{- fail (printf "image.tag is %s and image.digest is set: only one of them is allowed" .Values.image.tag) }}
{{- end }}
{{- $below30s := "^([1-9][0-9]{0,3}|[12][0-9]{4})ms$|^[12]?[0-9]s$" }}
{{- if not (or (regexMatch $below30s .Values.podMonitor.interval) (include "nixl-otel.setsDeadTtl" .)) }}
{{- fail (printf "podMonitor.interval is %s; it must be below --dead-ttl, which is 30 s unless args or env set it" .Values.podMonitor.interval) }}
{{- end }}
{{- range .Values.args }}
{{- if regexMatch "^--web-config(=|$)" . }}
{{- fail (printf "args has %s: the probes and the PodMonitor use HTTP, and no volume has its file; change the rendered manifests instead" .) }}
{{- end }}
{{- end }}
{{- if and .Values.prometheusRule.enabled (regexMatch "(^| )--series[= ]nixl( |$)" (join " " .Values.args)) }}
{{- fail "args has --series nixl, which leaves out the series of most alerts: remove it, or set prometheusRule.enabled: false" }}
{{- end }}
{{- $own := concat (list "NIXL_TELEMETRY_DIR" "NODE_NAME") (ternary (list "POD_NAME" "POD_NAMESPACE") list $sidecar) }}
{{- $seen := list }}
{{- range .Values.env }}
{{- if has .name $own }}
{{- fail (printf "env has %s, which the chart sets: leave it out" .name) }}
{{- end }}
{{- if has .name $seen }}
{{- fail (printf "env has %s twice" .name) }}
{{- end }}
{{- $seen = append $seen .name }}
{{- end }}
{{- if and .Values.networkPolicy.enabled $sidecar }}
{{- fail "networkPolicy.enabled: true needs mode: daemonset; with a sidecar it would restrict the transfers of the agents" }}
{{- end }}
{{- end }}
