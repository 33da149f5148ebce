{{/* The Secret of each certificate by mode, and the hosts of the certificates. */}}

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

{{/* Empty: controller manager and scheduler use self-signed certificates. */}}
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

{{/* Empty: no client certificate for node agents. */}}
{{- define "orch.nodeClientSecret" -}}
{{- if eq .Values.certificates.mode "provided" -}}
{{ .Values.certificates.provided.nodeClientSecret }}
{{- else -}}
{{ include "orch.fullname" . }}-node-client-tls
{{- end -}}
{{- end -}}

{{/* Empty: no client certificate for aggregated API servers. */}}
{{- define "orch.frontProxySecret" -}}
{{- if eq .Values.certificates.mode "provided" -}}
{{ .Values.certificates.provided.frontProxySecret }}
{{- else -}}
{{ include "orch.fullname" . }}-front-proxy-tls
{{- end -}}
{{- end -}}

{{/* Empty: approved certificate signing requests are not signed. */}}
{{- define "orch.signingSecret" -}}
{{- if eq .Values.certificates.mode "provided" -}}
{{ .Values.certificates.provided.signingSecret }}
{{- else if .Values.controllerManager.signCertificates -}}
{{ include "orch.fullname" . }}-ca
{{- end -}}
{{- end -}}

{{- define "orch.tokensSecret" -}}
{{ .Values.credentials.existingSecret | default (printf "%s-tokens" (include "orch.fullname" .)) }}
{{- end -}}

{{- define "orch.serviceAccountKeySecret" -}}
{{ .Values.credentials.serviceAccountKey.existingSecret | default (printf "%s-service-account-key" (include "orch.fullname" .)) }}
{{- end -}}

{{/* The address of the API's own service in the cluster: the first one of the service range. */}}
{{- define "orch.firstServiceAddress" -}}
{{- $network := .Values.apiserver.serviceClusterIpRange | splitList "," | first | splitList "/" | first -}}
{{- if contains ":" $network -}}
{{ $network }}1
{{- else -}}
{{- $octets := splitList "." $network -}}
{{ initial $octets | join "." }}.{{ add1 (last $octets | int) }}
{{- end -}}
{{- end -}}

{{/* All hosts, separated by commas. */}}
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
