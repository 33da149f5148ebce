{{/* Which Secret holds which certificate in each mode, and the hosts that they are for. */}}

{{- define "orch.servingSecret" -}}
{{- if eq .Values.certificates.mode "provided" -}}
{{ required "certificates.provided.servingSecret is needed in mode provided" .Values.certificates.provided.servingSecret }}
{{- else -}}
{{ include "orch.fullname" . }}-apiserver-tls
{{- end -}}
{{- end -}}

{{- define "orch.peerSecret" -}}
{{- if eq .Values.certificates.mode "provided" -}}
{{ required "certificates.provided.peerSecret is needed in mode provided" .Values.certificates.provided.peerSecret }}
{{- else -}}
{{ include "orch.fullname" . }}-peer-tls
{{- end -}}
{{- end -}}

{{/* Empty: controller manager and scheduler make their own. */}}
{{- define "orch.componentSecret" -}}
{{- if eq .Values.certificates.mode "provided" -}}
{{ .Values.certificates.provided.componentSecret }}
{{- else -}}
{{ include "orch.fullname" . }}-component-tls
{{- end -}}
{{- end -}}

{{/* Empty: no client certificates. */}}
{{- define "orch.clientAuthoritySecret" -}}
{{- if eq .Values.certificates.mode "provided" -}}
{{ .Values.certificates.provided.clientAuthoritySecret }}
{{- else -}}
{{ include "orch.fullname" . }}-ca
{{- end -}}
{{- end -}}

{{/* Empty: nothing is shown to node agents. */}}
{{- define "orch.nodeClientSecret" -}}
{{- if eq .Values.certificates.mode "provided" -}}
{{ .Values.certificates.provided.nodeClientSecret }}
{{- else -}}
{{ include "orch.fullname" . }}-node-client-tls
{{- end -}}
{{- end -}}

{{- define "orch.tokensSecret" -}}
{{ .Values.credentials.existingSecret | default (printf "%s-tokens" (include "orch.fullname" .)) }}
{{- end -}}

{{- define "orch.serviceAccountKeySecret" -}}
{{ .Values.credentials.serviceAccountKey.existingSecret | default (printf "%s-service-account-key" (include "orch.fullname" .)) }}
{{- end -}}

{{/* The first address of the range of services: that of the API's own service inside the cluster. */}}
{{- define "orch.firstServiceAddress" -}}
{{- $network := .Values.apiserver.serviceClusterIpRange | splitList "," | first | splitList "/" | first -}}
{{- if contains ":" $network -}}
{{ $network }}1
{{- else -}}
{{- $octets := splitList "." $network -}}
{{ initial $octets | join "." }}.{{ add1 (last $octets | int) }}
{{- end -}}
{{- end -}}

{{/* All with a comma between. */}}
{{- define "orch.servingHosts" -}}
{{- $service := include "orch.apiserver.name" . -}}
{{- $peers := include "orch.peers.name" . -}}
{{- $namespace := .Release.Namespace -}}
{{- $word := .Values.dialect -}}
{{- $hosts := list "localhost" "127.0.0.1" "::1" (include "orch.firstServiceAddress" .) -}}
{{- $hosts = concat $hosts (list $word (printf "%s.default" $word) (printf "%s.default.svc" $word) (printf "%s.default.svc.cluster.local" $word)) -}}
{{- $hosts = concat $hosts (list $service (printf "%s.%s" $service $namespace) (printf "%s.%s.svc" $service $namespace) (include "orch.apiserver.host" .)) -}}
{{- $hosts = concat $hosts (list (printf "*.%s.%s.svc" $peers $namespace) (printf "*.%s" (include "orch.peers.domain" .))) -}}
{{- concat $hosts .Values.apiserver.service.externalHosts | uniq | join "," -}}
{{- end -}}

{{- define "orch.peerHosts" -}}
localhost,*.{{ include "orch.peers.name" . }}.{{ .Release.Namespace }}.svc,*.{{ include "orch.peers.domain" . }}
{{- end -}}

{{- define "orch.componentHosts" -}}
{{- $name := include "orch.fullname" . -}}
localhost,{{ $name }}-controller-manager.{{ .Release.Namespace }}.svc,{{ $name }}-scheduler.{{ .Release.Namespace }}.svc
{{- end -}}
