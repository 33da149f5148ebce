{{/* Common parts of all pods: restricted security, the volumes of certificates and credentials. */}}

{{- define "orch.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "orch.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* The start of every pod's spec. */}}
{{- define "orch.podBasics" -}}
serviceAccountName: {{ include "orch.serviceAccountName" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "orch.podSecurityContext" . | nindent 2 }}
{{- end -}}

{{/* The scheduling constraints of a component's pods. Argument: the component's values. */}}
{{- define "orch.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/* Anti-affinity over nodes. Arguments: (list root component hard|soft). */}}
{{- define "orch.antiAffinity" -}}
podAntiAffinity:
{{- if eq (index . 2) "hard" }}
  requiredDuringSchedulingIgnoredDuringExecution:
    - topologyKey: kubernetes.io/hostname
      labelSelector:
        matchLabels:
          {{- include "orch.selectorLabels" (list (index . 0) (index . 1)) | nindent 10 }}
{{- else }}
  preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- include "orch.selectorLabels" (list (index . 0) (index . 1)) | nindent 12 }}
{{- end }}
{{- end -}}

{{/* A volume with the kubeconfig, the token of one user and the API's authority. Arguments: (list root user). */}}
{{- define "orch.kubeconfigVolume" -}}
{{- $root := index . 0 -}}
- name: kubeconfig
  projected:
    defaultMode: 0440
    sources:
      - secret:
          name: {{ include "orch.fullname" $root }}-kubeconfig
      - secret:
          name: {{ include "orch.servingSecret" $root }}
          items:
            - {key: ca.crt, path: ca.crt}
      - secret:
          name: {{ include "orch.tokensSecret" $root }}
          items:
            - {key: {{ index . 1 }}, path: token}
{{- end -}}

{{- define "orch.kubeconfigMount" -}}
- {name: kubeconfig, mountPath: /etc/orch/client, readOnly: true}
{{- end -}}

{{/* Environment of the programs that are clients. */}}
{{- define "orch.clientEnv" -}}
- name: KUBECONFIG
  value: /etc/orch/client/kubeconfig
{{- end -}}

{{/* A hash of the files that the programs read only at start, so that a change restarts them. */}}
{{- define "orch.readAtStart" -}}
{{- include "orch.make" . -}}
orch.io/read-at-start: {{ toJson (omit .Values.made "initialReplicas" "clusterToken") | sha256sum }}
{{- end -}}
