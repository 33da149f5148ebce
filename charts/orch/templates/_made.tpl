{{/*
The values that the chart generates once and stores: keys, certificates, tokens, and the initial
configuration. Generated at most once per rendering, in `.Values.made`, so that all templates use the
same ones. An existing Secret is reused. If Helm cannot read from the cluster, everything is generated again.
*/}}
{{- define "orch.make" -}}
{{- if not (hasKey .Values "made") -}}
{{- $made := dict -}}
{{- $_ := set .Values "made" $made -}}
{{- $name := include "orch.fullname" . -}}
{{- if eq .Values.certificates.mode "chart" -}}
{{- include "orch.makeAuthority" (list . "ca" "cluster") -}}
{{- include "orch.makeAuthority" (list . "peer-ca" "replicas") -}}
{{- include "orch.makeAuthority" (list . "front-proxy-ca" "front proxy") -}}
{{- include "orch.makePair" (list . "front-proxy-tls" "front-proxy-ca" "front-proxy-client" "") -}}
{{- include "orch.makePair" (list . "apiserver-tls" "ca" (printf "%s-apiserver" .Values.dialect) (include "orch.servingHosts" .)) -}}
{{- include "orch.makePair" (list . "peer-tls" "peer-ca" (include "orch.peers.name" .) (include "orch.peerHosts" .)) -}}
{{- include "orch.makePair" (list . "component-tls" "ca" (printf "%s-component" .Values.dialect) (include "orch.componentHosts" .)) -}}
{{- include "orch.makePair" (list . "node-client-tls" "ca" (printf "%s-apiserver-client" .Values.dialect) "") -}}
{{- end -}}
{{- include "orch.makeTokens" . -}}
{{- include "orch.makeBeginning" . -}}
{{- end -}}
{{- end -}}

{{/* Arguments: (list root name word). Sets made[name] to an object with Cert and Key, which can sign. */}}
{{- define "orch.makeAuthority" -}}
{{- $root := index . 0 -}}
{{- $secretName := printf "%s-%s" (include "orch.fullname" $root) (index . 1) -}}
{{- $kept := lookup "v1" "Secret" $root.Release.Namespace $secretName -}}
{{- if $kept -}}
{{- $_ := set $root.Values.made (index . 1) (buildCustomCert (index $kept.data "tls.crt") (index $kept.data "tls.key")) -}}
{{- else -}}
{{- $days := int $root.Values.certificates.chart.authorityDays -}}
{{- $commonName := printf "%s %s authority" (include "orch.fullname" $root) (index . 2) -}}
{{- $_ := set $root.Values.made (index . 1) (genCAWithKey $commonName $days (genPrivateKey "ecdsa")) -}}
{{- end -}}
{{- end -}}

{{/*
Arguments: (list root name authority commonName hosts). Sets made[name] to a dict with Cert, Key, made
(seconds) and fingerprint (of names and authority). Reuses the stored pair while its hosts and authority are
the same and it is not too old.
*/}}
{{- define "orch.makePair" -}}
{{- $root := index . 0 -}}
{{- $authority := index $root.Values.made (index . 2) -}}
{{- $hosts := compact (splitList "," (index . 4)) -}}
{{- $fingerprint := printf "%s %s %s" (index . 3) (index . 4) $authority.Cert | sha256sum -}}
{{- $now := now | unixEpoch | int64 -}}
{{- $secretName := printf "%s-%s" (include "orch.fullname" $root) (index . 1) -}}
{{- $kept := lookup "v1" "Secret" $root.Release.Namespace $secretName -}}
{{- $pair := dict -}}
{{- if $kept -}}
{{- $annotations := $kept.metadata.annotations | default dict -}}
{{- $madeAt := index $annotations "orch.io/made-at" | default "0" | int64 -}}
{{- $youngEnough := lt $now (add $madeAt (mul 86400 (int64 $root.Values.certificates.chart.renewAfterDays))) -}}
{{- if and $youngEnough (eq (index $annotations "orch.io/made-for" | default "") $fingerprint) -}}
{{- $pair = dict "Cert" (index $kept.data "tls.crt" | b64dec) "Key" (index $kept.data "tls.key" | b64dec) "made" $madeAt -}}
{{- end -}}
{{- end -}}
{{- if not $pair -}}
{{- $addresses := list -}}
{{- $names := list -}}
{{- range $hosts -}}
{{- if regexMatch "^[0-9.]+$|:" . -}}
{{- $addresses = append $addresses . -}}
{{- else -}}
{{- $names = append $names . -}}
{{- end -}}
{{- end -}}
{{- $days := int $root.Values.certificates.chart.days -}}
{{- $new := genSignedCertWithKey (index . 3) $addresses $names $days $authority (genPrivateKey "ecdsa") -}}
{{- $pair = dict "Cert" $new.Cert "Key" $new.Key "made" $now -}}
{{- end -}}
{{- $_ := set $pair "fingerprint" $fingerprint -}}
{{- $_ := set $root.Values.made (index . 1) $pair -}}
{{- end -}}

{{/* Tokens by user, and the key that signs service account tokens. */}}
{{- define "orch.makeTokens" -}}
{{- $name := include "orch.fullname" . -}}
{{- $tokens := dict -}}
{{- if not .Values.credentials.existingSecret -}}
{{- $kept := (lookup "v1" "Secret" .Release.Namespace (printf "%s-tokens" $name)).data | default dict -}}
{{- range list "admin" "controller-manager" "scheduler" "metrics" -}}
{{- $_ := set $tokens . (index $kept . | default (randAlphaNum 43 | b64enc) | b64dec) -}}
{{- end -}}
{{- end -}}
{{- $_ := set .Values.made "tokens" $tokens -}}
{{- if not .Values.credentials.serviceAccountKey.existingSecret -}}
{{- $kept := (lookup "v1" "Secret" .Release.Namespace (printf "%s-service-account-key" $name)).data | default dict -}}
{{- $key := index $kept "service-account.key" | default (genPrivateKey "ecdsa" | b64enc) -}}
{{- $_ := set .Values.made "serviceAccountKey" ($key | b64dec) -}}
{{- end -}}
{{- end -}}

{{/* Number of replicas and token of the first installation. */}}
{{- define "orch.makeBeginning" -}}
{{- $name := printf "%s-beginning" (include "orch.fullname" .) -}}
{{- $kept := (lookup "v1" "ConfigMap" .Release.Namespace $name).data | default dict -}}
{{- $replicas := .Values.apiserver.initialReplicas | default $kept.initialReplicas | default .Values.apiserver.replicas | int -}}
{{- if and .Release.IsInstall $kept.initialReplicas (not .Values.apiserver.initialReplicas) (ne $replicas (int .Values.apiserver.replicas)) -}}
{{- fail (printf "an earlier installation started with %d replicas (ConfigMap %s): install with apiserver.replicas=%d to continue with its volumes and scale afterwards, or delete that ConfigMap and the volumes" $replicas $name $replicas) -}}
{{- end -}}
{{- $token := .Values.apiserver.clusterToken | default $kept.clusterToken | default (randAlphaNum 16) -}}
{{- $_ := set .Values.made "initialReplicas" $replicas -}}
{{- $_ := set .Values.made "clusterToken" $token -}}
{{- end -}}
