{{/* A Job of an upgrade that changes the membership. Arguments: root, name (of its script), hook. */}}
{{- define "orch.membershipJob" -}}
{{- $root := .root -}}
{{- $membership := $root.Values.apiserver.membership -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "orch.fullname" $root }}-{{ .name }}-members
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "orch.labels" (list $root "membership") | nindent 4 }}
  annotations:
    helm.sh/hook: {{ .hook }}
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  backoffLimit: 0
  activeDeadlineSeconds: {{ add 20 (int $membership.timeoutSeconds) }}
  template:
    metadata:
      labels:
        {{- include "orch.podLabels" (list $root "membership") | nindent 8 }}
    spec:
      {{- include "orch.podBasics" $root | nindent 6 }}
      {{- with include "orch.placement" $root.Values.apiserver }}
      {{- . | nindent 6 }}
      {{- end }}
      restartPolicy: Never
      containers:
        - name: {{ .name }}
          image: {{ include "orch.image" $root }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          command: [node, /opt/orch/cluster/{{ .name }}.mjs]
          args:
            - "--replicas={{ $root.Values.apiserver.replicas }}"
            - "--member-prefix={{ include "orch.apiserver.name" $root }}-"
            - "--timeout-seconds={{ $membership.timeoutSeconds }}"
          env:
            {{- include "orch.clientEnv" $root | nindent 12 }}
          {{- include "orch.clientContainer" $root | nindent 10 }}
      volumes:
        - name: tmp
          emptyDir: {sizeLimit: 16Mi}
        {{- include "orch.kubeconfigVolume" (list $root "admin") | nindent 8 }}
{{- end -}}

{{/* Security, size and mounts of a container that only runs orchctl. */}}
{{- define "orch.clientContainer" -}}
securityContext:
  {{- include "orch.containerSecurityContext" . | nindent 2 }}
resources:
  requests: {cpu: 50m, memory: 128Mi}
  limits: {memory: 256Mi}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  {{- include "orch.kubeconfigMount" . | nindent 2 }}
{{- end -}}
