/** Versions, resources and paths of the server. */
import type { Topic } from '../support/kubectl-session.js';

export const discovery: Topic = {
  name: 'discovery',
  steps: [
    {
      does: 'prints the versions',
      run: 'kubectl version -o json',
      says: ['"clientVersion"', /"serverVersion": \{[^}]*"gitVersion": "v1\.21\.1"/],
    },
    {
      does: 'lists group versions',
      run: 'kubectl api-versions',
      says: [/^v1$/m, /^apps\/v1$/m, /^coordination\.k8s\.io\/v1beta1$/m, /^events\.k8s\.io\/v1$/m],
    },
    {
      does: 'lists resources',
      run: 'kubectl api-resources',
      says: [
        /^NAME +SHORTNAMES +APIVERSION +NAMESPACED +KIND$/m,
        /^pods +po +v1 +true +Pod$/m,
        /^deployments +deploy +apps\/v1 +true +Deployment$/m,
        /^events +ev +events\.k8s\.io\/v1 +true +Event$/m,
        /^priorityclasses +pc +scheduling\.k8s\.io\/v1 +false +PriorityClass$/m,
      ],
    },
    {
      does: 'lists resources with their verbs',
      run: 'kubectl api-resources -o wide --sort-by=name --verbs=list,deletecollection',
      says: /^pods .*create[ ,]delete[ ,]deletecollection[ ,]get[ ,]list[ ,]patch[ ,]update[ ,]watch/m,
      saysNot: /^(namespaces|services) /m,
    },
    {
      does: 'lists resources of a group and of no namespace',
      run: 'kubectl api-resources --api-group=apps -o name; kubectl api-resources --namespaced=false -o name',
      says: ['deployments.apps\n', 'replicasets.apps\n', /^nodes$/m],
      saysNot: /^(pods|configmaps)$/m,
    },
    {
      does: 'prints the address of the control plane',
      run: 'kubectl cluster-info',
      says: /control plane.* is running at .*https:\/\/127\.0\.0\.1:\d+/,
    },
    {
      does: 'explains a field',
      run: 'kubectl explain deployment.spec.strategy',
      says: [
        /^KIND: +Deployment$/m,
        /^VERSION: +/m,
        /replaces\s+pods\s+gradually/,
        /rollingUpdate\s+<\S+>/,
        /type\s+<string>/,
      ],
    },
    {
      does: 'explains a kind in a version, all of it',
      run: 'kubectl explain pods --recursive --api-version=v1',
      says: [/^KIND: +Pod$/m, /^ +livenessProbe\s/m, /^ +fieldPath\s+<string>/m, /^ +hostIP\s/m],
    },
    {
      does: 'reports a missing field',
      run: 'kubectl explain pods.spec.absent',
      says: 'field "absent" does not exist',
      exits: 1,
    },
    {
      does: 'requests a raw path',
      run: "kubectl get --raw /healthz; kubectl get --raw '/api/v1/namespaces?limit=1'",
      says: [/^ok/, '"kind":"NamespaceList"', '"continue":"'],
    },
    {
      does: 'proxies the API on a local port',
      run: `
        exec 3< <(exec kubectl proxy --port=0)
        proxy=$!
        read -ru 3 line; [[ $line =~ 127.0.0.1:([0-9]+) ]]
        exec 4<>/dev/tcp/127.0.0.1/\${BASH_REMATCH[1]}
        printf 'GET /api/v1/namespaces/%s HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' "$NAMESPACE" >&4
        cat <&4; kill $proxy`,
      says: ['200 OK', '"kind":"Namespace"'],
    },
    {
      does: 'reports that the server has no self subject reviews, as 1.21 had none',
      run: 'kubectl auth whoami',
      says: 'the selfsubjectreviews API is not enabled in the cluster',
      exits: 1,
      since: 27,
    },
    {
      does: 'shows the usage of nodes, which their agents measure a few seconds after their start',
      run: `
        until kubectl top nodes 2>/dev/null | grep -E '^node-1 +[0-9]'; do sleep 0.5; done
        kubectl top pods`,
      says: [/node-1 +\d+m +\d+% +\d+Mi +\d+%/, 'No resources found in'],
    },
  ],
};
