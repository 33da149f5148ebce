{{/* The names of the replicas for the API server and orchctl. */}}

{{- define "orch.member.peerUrl" -}}
https://{{ include "orch.apiserver.name" (index . 0) }}-{{ index . 1 }}.{{ include "orch.peers.domain" (index . 0) }}:6480
{{- end -}}

{{/* The replicas of the first installation, as `name=url,...`: also the servers through which a new one joins. */}}
{{- define "orch.initialCluster" -}}
{{- $members := list -}}
{{- range until (int .Values.made.initialReplicas) -}}
{{- $members = append $members (printf "%s-%d=%s" (include "orch.apiserver.name" $) . (include "orch.member.peerUrl" (list $ .))) -}}
{{- end -}}
{{- join "," $members -}}
{{- end -}}

{{/* A restored cluster is a new one, so its ids are derived from another token. */}}
{{- define "orch.clusterToken" -}}
{{- if .Values.restore.enabled -}}
{{ .Values.made.clusterToken }}-{{ .Values.restore.file | sha256sum | trunc 8 }}
{{- else -}}
{{ .Values.made.clusterToken }}
{{- end -}}
{{- end -}}

{{/* host:port for a listening address. */}}
{{- define "orch.listen" -}}
{{- $address := index . 0 -}}
{{ contains ":" $address | ternary (printf "[%s]" $address) $address }}:{{ index . 1 }}
{{- end -}}

{{/* A quantity such as 8Gi as a number of bytes. */}}
{{- define "orch.quotaBytes" -}}
{{- $text := toString . -}}
{{- $factors := dict "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $unit := regexFind "[kKMGT]i?$" $text -}}
{{- $number := trimSuffix $unit $text | float64 -}}
{{ mulf $number (index $factors $unit | default 1) | int64 }}
{{- end -}}
