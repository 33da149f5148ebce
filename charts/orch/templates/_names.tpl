{{/* Names of objects, hosts and labels. */}}

{{- define "orch.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 40 characters: the longest derived name still fits a label. */}}
{{- define "orch.fullname" -}}
{{- $name := include "orch.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "orch.apiserver.name" -}}
{{ include "orch.fullname" . }}-apiserver
{{- end -}}

{{- define "orch.peers.name" -}}
{{ include "orch.apiserver.name" . }}-peers
{{- end -}}

{{- define "orch.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "orch.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "orch.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of a component. Arguments: (list root component). */}}
{{- define "orch.selectorLabels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "orch.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* Labels of an object. Arguments: (list root component). */}}
{{- define "orch.labels" -}}
{{- $root := index . 0 -}}
{{- include "orch.selectorLabels" . }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Host of the client Service in the DNS of the host cluster. */}}
{{- define "orch.apiserver.host" -}}
{{ include "orch.apiserver.name" . }}.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}
{{- end -}}

{{- define "orch.apiserver.url" -}}
https://{{ include "orch.apiserver.host" . }}:{{ .Values.apiserver.service.port }}
{{- end -}}

{{/* The suffix after the pod name in the host name of a replica. */}}
{{- define "orch.peers.domain" -}}
{{ include "orch.peers.name" . }}.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}
{{- end -}}

{{/* The URL of the API for users: the external one if there is one. */}}
{{- define "orch.adminUrl" -}}
{{- $host := first .Values.apiserver.service.externalHosts | default (include "orch.apiserver.host" .) -}}
https://{{ contains ":" $host | ternary (printf "[%s]" $host) $host }}:{{ .Values.apiserver.service.port }}
{{- end -}}

{{/* Labels of a pod: without versions, so that a new chart alone restarts nothing. Arguments: (list root component). */}}
{{- define "orch.podLabels" -}}
{{- include "orch.selectorLabels" . }}
{{- with (index . 0).Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}
