{{/* The groups of files/, without disabled alerts. With sidecars alone, NixlOtelAbsent would fire while no pod
runs, and NixlOtelSilent for each pod that has ended. */}}
{{- define "nixl-otel.groups" -}}
{{- $disabled := .Values.prometheusRule.disabled }}
{{- if kindIs "invalid" $disabled }}
{{- $disabled = ternary (list "NixlOtelAbsent" "NixlOtelSilent") list (eq (include "nixl-otel.mode" .) "sidecar") }}
{{- end }}
{{- $base := .Values.prometheusRule.runbookBase }}
{{- $groups := list }}
{{- $alerts := list }}
{{- range $path, $bytes := .Files.Glob "files/*.yml" }}
{{- range (fromYaml ($bytes | toString)).groups }}
{{- $rules := list }}
{{- range .rules }}
{{- if .alert }}
{{- $alerts = append $alerts .alert }}
{{- if $base }}
{{- $_ := set .annotations "runbook_url" (regexReplaceAll "^.*/docs/" .annotations.runbook_url (print $base "docs/")) }}
{{- end }}
{{- end }}
{{- if not (has .alert $disabled) }}
{{- $rules = append $rules . }}
{{- end }}
{{- end }}
{{- if $rules }}
{{- $groups = append $groups (set . "rules" $rules) }}
{{- end }}
{{- end }}
{{- end }}
{{- range $disabled }}
{{- if not (has . $alerts) }}
{{- fail (printf "prometheusRule.disabled has %s, which is no alert; allowed: %s" . (join ", " $alerts)) }}
{{- end }}
{{- end }}
{{- toYaml $groups }}
{{- end }}
