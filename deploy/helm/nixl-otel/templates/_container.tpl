{{/* User of nixl-otel. */}}
{{- define "nixl-otel.user" -}}
{{ ternary 0 (int .Values.agents.user) .Values.agents.severalUsers }}
{{- end }}

{{/* User and rights of nixl-otel: those of the agents, and nothing that it does not need. */}}
{{- define "nixl-otel.securityContext" -}}
{{- $capabilities := "" }}
{{- if .Values.agents.severalUsers }}
{{- $capabilities = "[DAC_OVERRIDE, SYS_PTRACE] # to drain rings of other users, and to see their processes" }}
{{- else if eq (include "nixl-otel.user" .) "0" }}
{{- $capabilities = "[SYS_PTRACE] # to see processes of root, which have capabilities that nixl-otel lacks" }}
{{- end }}
{{- include "nixl-otel.securityContextWith" (dict "context" . "capabilities" $capabilities) }}
{{- end }}

{{/* The same user with other rights. The arguments are the `context`, and the list of `capabilities` as text. */}}
{{- define "nixl-otel.securityContextWith" -}}
{{- $user := include "nixl-otel.user" .context | int -}}
runAsUser: {{ $user }}
runAsGroup: {{ int .context.Values.agents.group }}
runAsNonRoot: {{ ne $user 0 }}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
  {{- with .capabilities }}
  add: {{ . }}
  {{- end }}
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{/* What the container has in both modes. */}}
{{- define "nixl-otel.serve" -}}
{{ include "nixl-otel.image" . }}
{{- /* Without a host: the address of the pod may be of IPv4 or IPv6. */}}
{{- $args := list "serve" "--listen" (printf ":%s" (include "nixl-otel.port" .)) }}
{{- if not .Values.agents.severalUsers }}
{{- /* Other users may write to an emptyDir, and members of its group to a directory of root. */}}
{{- $args = concat $args (list "--owner" (int .Values.agents.user | toString)) }}
{{- end }}
args: {{ concat $args .Values.args | toJson }}
livenessProbe:
  httpGet: { path: /livez, port: {{ include "nixl-otel.port" . }} }
  initialDelaySeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6 # one minute: a restart makes the pod not ready
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  {{- include "nixl-otel.securityContext" . | nindent 2 }}
{{- end }}
