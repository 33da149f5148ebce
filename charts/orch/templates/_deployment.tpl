{{/*
A component with one active process, while the others wait for its lease: Deployment, Service for metrics
and disruption budget. Arguments: root, component (name), settings (its values), port, args, secrets (further
Secrets to mount at /etc/orch/<name>: a list of dicts of name and secret).
*/}}
{{- define "orch.elected" -}}
{{- $root := .root -}}
{{- $settings := .settings -}}
{{- $name := printf "%s-%s" (include "orch.fullname" $root) .component -}}
{{- $serving := include "orch.componentSecret" $root -}}
{{- $clientAuthority := include "orch.clientAuthoritySecret" $root -}}
{{- $word := eq $root.Values.dialect "kubernetes" | ternary "kube" "orch" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "orch.labels" (list $root .component) | nindent 4 }}
spec:
  replicas: {{ $settings.replicas }}
  selector:
    matchLabels:
      {{- include "orch.selectorLabels" (list $root .component) | nindent 6 }}
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxUnavailable: 1, maxSurge: 1}
  template:
    metadata:
      labels:
        {{- include "orch.podLabels" (list $root .component) | nindent 8 }}
        {{- with $settings.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        {{- include "orch.readAtStart" $root | nindent 8 }}
        {{- with $settings.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "orch.podBasics" $root | nindent 6 }}
      {{- with include "orch.placement" $settings }}
      {{- . | nindent 6 }}
      {{- end }}
      terminationGracePeriodSeconds: 35
      affinity:
        {{- if $settings.affinity }}
        {{- toYaml $settings.affinity | nindent 8 }}
        {{- else }}
        {{- include "orch.antiAffinity" (list $root .component "soft") | nindent 8 }}
        {{- end }}
      containers:
        - name: {{ .component }}
          image: {{ include "orch.image" $root }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          command: [{{ printf "orch-%s" .component }}]
          args:
            - "--dialect={{ $root.Values.dialect }}"
            - --kubeconfig=/etc/orch/client/kubeconfig
            - "--{{ $word }}-api-qps={{ $settings.apiQps }}"
            - "--{{ $word }}-api-burst={{ $settings.apiBurst }}"
            - --leader-elect=true
            - "--leader-elect-lease-duration={{ $settings.leaseDuration }}"
            - "--leader-elect-renew-deadline={{ $settings.renewDeadline }}"
            - "--leader-elect-retry-period={{ $settings.retryPeriod }}"
            - "--bind-address={{ $root.Values.apiserver.bindAddress }}"
            - "--secure-port={{ .port }}"
            {{- if $serving }}
            - --tls-cert-file=/etc/orch/serving/tls.crt
            - --tls-private-key-file=/etc/orch/serving/tls.key
            {{- end }}
            {{- if $clientAuthority }}
            - --client-ca-file=/etc/orch/client-authority/ca.crt
            {{- end }}
            - --logging-format=json
            - "--log-level={{ $settings.logLevel }}"
            - --shutdown-timeout=30s
            {{- range concat .args $settings.extraArgs }}
            - {{ . | quote }}
            {{- end }}
          {{- with $settings.extraEnv }}
          env:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          ports:
            - {name: https, containerPort: {{ .port }}}
          startupProbe:
            httpGet: {path: /livez, port: https, scheme: HTTPS}
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet: {path: /livez, port: https, scheme: HTTPS}
            periodSeconds: 10
            timeoutSeconds: 10
            failureThreshold: 6
          readinessProbe:
            httpGet: {path: /readyz, port: https, scheme: HTTPS}
            periodSeconds: 10
            timeoutSeconds: 10
          securityContext:
            {{- include "orch.containerSecurityContext" $root | nindent 12 }}
          resources:
            {{- toYaml $settings.resources | nindent 12 }}
          volumeMounts:
            - {name: tmp, mountPath: /tmp}
            {{- include "orch.kubeconfigMount" $root | nindent 12 }}
            {{- if $serving }}
            - {name: serving, mountPath: /etc/orch/serving, readOnly: true}
            {{- end }}
            {{- if $clientAuthority }}
            - {name: client-authority, mountPath: /etc/orch/client-authority, readOnly: true}
            {{- end }}
            {{- range .secrets }}
            - {name: {{ .name }}, mountPath: /etc/orch/{{ .name }}, readOnly: true}
            {{- end }}
      volumes:
        - name: tmp
          emptyDir: {sizeLimit: 64Mi}
        {{- include "orch.kubeconfigVolume" (list $root .component) | nindent 8 }}
        {{- if $serving }}
        - name: serving
          secret: {secretName: {{ $serving }}, defaultMode: 0440}
        {{- end }}
        {{- if $clientAuthority }}
        - name: client-authority
          secret:
            secretName: {{ $clientAuthority }}
            defaultMode: 0440
            items:
              - {key: ca.crt, path: ca.crt}
        {{- end }}
        {{- range .secrets }}
        - name: {{ .name }}
          secret: {secretName: {{ .secret }}, defaultMode: 0440}
        {{- end }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "orch.labels" (list $root .component) | nindent 4 }}
    orch.io/scrape: "true"
spec:
  selector:
    {{- include "orch.selectorLabels" (list $root .component) | nindent 4 }}
  ports:
    - {name: https, port: {{ .port }}, targetPort: https}
{{- if $settings.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "orch.labels" (list $root .component) | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "orch.selectorLabels" (list $root .component) | nindent 6 }}
{{- end }}
{{- end -}}
