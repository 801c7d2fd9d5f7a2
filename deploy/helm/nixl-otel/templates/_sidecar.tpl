{{/*
The parts of a pod with a sidecar. A chart that depends on this one includes them with the context of the subchart:

  {{- include "nixl-otel.sidecar" (index .Subcharts "nixl-otel") | nindent 8 }}
*/}}

{{/* The container of nixl-otel. It has no startup or readiness probe: one would delay the agents or their pod. */}}
{{- define "nixl-otel.sidecar" -}}
{{- include "nixl-otel.check" . -}}
- name: nixl-otel
  {{- if .Values.sidecar.native }}
  restartPolicy: Always # makes it a sidecar: it starts before the agents, and ends after them
  {{- end }}
  {{- include "nixl-otel.serve" . | nindent 2 }}
  env:
    - { name: NIXL_TELEMETRY_DIR, value: /nixl }
    # For attributes of the agents' series, if they are asked for: the pod of the sidecar is that of the agents.
    - { name: POD_NAME, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
    - { name: POD_NAMESPACE, valueFrom: { fieldRef: { fieldPath: metadata.namespace } } }
    - { name: NODE_NAME, valueFrom: { fieldRef: { fieldPath: spec.nodeName } } }
    {{- with .Values.env }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if eq (include "nixl-otel.portName" .) "metrics" }}
  ports:
    - { name: metrics, containerPort: {{ include "nixl-otel.port" . }} }
  {{- end }}
  volumeMounts:
    {{- include "nixl-otel.volumeMounts" . | nindent 4 }}
{{- end }}

{{/* Variables of the agents' containers. */}}
{{- define "nixl-otel.agentEnv" -}}
{{- if .Values.dynamo -}}
# Not `y`: for SGLang the operator then declares a port for each rank, and Prometheus finds nothing at the others.
- { name: NIXL_TELEMETRY_ENABLE, value: 'on' }
- { name: NIXL_TELEMETRY_EXPORTER, value: BUFFER } # in place of the operator's `prometheus`
{{- else -}}
- { name: NIXL_TELEMETRY_ENABLE, value: 'y' }
{{- end }}
- { name: NIXL_TELEMETRY_DIR, value: /nixl }
{{- end }}

{{/* Mounts of the agents' containers, and of the sidecar. */}}
{{- define "nixl-otel.volumeMounts" -}}
- { name: nixl-rings, mountPath: /nixl }
{{- end }}

{{- define "nixl-otel.volumes" -}}
- name: nixl-rings
  emptyDir: { medium: Memory, sizeLimit: {{ .Values.sidecar.ringsSize }} }
{{- end }}

{{/* Fields of a pod. The arguments are the `context`, and the list of the `agents`' containers as text. */}}
{{- define "nixl-otel.podFields" -}}
{{- $native := .context.Values.sidecar.native -}}
# Makes the agents' processes visible, so that nixl-otel sees which are alive. Without it the last values of a dead agent stay
# until the pod ends or --idle-ttl expires.
shareProcessNamespace: true
{{- if $native }}
initContainers:
  {{- include "nixl-otel.sidecar" .context | nindent 2 }}
{{- end }}
containers:
  {{- if not $native }}
  {{- /* First: kubelet starts containers in this order, and pulls the image of each before. */}}
  {{- include "nixl-otel.sidecar" .context | nindent 2 }}
  {{- end }}
  {{- .agents | nindent 2 }}
volumes:
  {{- include "nixl-otel.volumes" .context | nindent 2 }}
{{- end }}
