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
image: {{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{/* Port of the HTTP server. Dynamo's operator declares 19090 as `nixl` on the container of the worker. */}}
{{- define "nixl-otel.port" -}}
{{ ternary 19090 9464 .Values.dynamo }}
{{- end }}

{{/* Not empty if the `env` of the values has the variable. The arguments are the context, and its name. */}}
{{- define "nixl-otel.gives" -}}
{{- $name := index . 1 }}
{{- range (index . 0).Values.env }}{{ if eq .name $name }}yes{{ end }}{{ end }}
{{- end }}

{{/* Refuses values that contradict each other; values.schema.json refuses the others. */}}
{{- define "nixl-otel.check" -}}
{{- $sidecar := eq .Values.mode "sidecar" }}
{{- if and .Values.dynamo (not $sidecar) }}
{{- fail "dynamo: true needs mode: sidecar" }}
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
