/** Objects printed in every form. */
import type { Topic } from '../support/kubectl-session.js';

/** Reads events of a watch from descriptor 3 until one matches. */
const until = (what: string) =>
  `until read -ru 3 line; echo "$line"; [[ $line == ${what} ]]; do :; done`;

export const reading: Topic = {
  name: 'reading',
  steps: [
    {
      does: 'creates objects to read',
      run: `
        kubectl create deployment web --image=test/web:1 --replicas=2 -- sleep 100000
        kubectl create configmap one --from-literal=order=2
        kubectl create configmap two --from-literal=order=1
        kubectl label configmap one two made=here
        kubectl expose deployment web --port=80
        kubectl rollout status deployment/web --timeout=60s
        until [[ $(kubectl get endpoints web -o jsonpath='{.subsets[*].addresses[*].ip}' | wc -w) == 2 ]]; do sleep 0.2; done
        # A busy manager writes its events some seconds later.
        until [[ $(kubectl get events --field-selector involvedObject.kind=Deployment -o name) ]]; do sleep 0.2; done`,
      says: 'successfully rolled out',
    },
    {
      does: 'shows tables, wide and with labels',
      run: `
        kubectl get pods -o wide
        kubectl get configmaps --show-labels
        kubectl get configmaps -L made
        kubectl get pods --no-headers`,
      says: [
        /^NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES$/m,
        /^web-\S+ +1\/1 +Running +0 +\S+ +10\.\S+ +node-\d +<none> +<none>$/m,
        /^NAME +DATA +AGE +LABELS$/m,
        /^one +1 +\S+ +made=here$/m,
        /^NAME +DATA +AGE +MADE$/m,
        /^one +1 +\S+ +here$/m,
        /^web-\S+ +1\/1 +Running +0 +\S+$/m,
      ],
    },
    {
      does: 'shows all kinds of a category, and several',
      run: 'kubectl get all; kubectl get deploy,rs,cm -o wide',
      says: [
        /^pod\/web-\S+ +1\/1/m,
        /^service\/web +ClusterIP +10\.\S+ +<none> +80\/TCP +\S+$/m,
        /^deployment\.apps\/web +2\/2 +2 +2 +\S+$/m,
        /^replicaset\.apps\/web-\S+ +2 +2 +2 +\S+$/m,
        /^deployment\.apps\/web +2\/2 +2 +2 +\S+ +\w+ +test\/web:1 +app=web$/m,
        /^configmap\/one +1 /m,
      ],
    },
    {
      does: 'prints JSON and YAML',
      run: 'kubectl get deployment web -o json; kubectl get deployment web -o yaml; kubectl get cm -o json',
      says: [/^ +"kind": "Deployment",$/m, /^kind: Deployment$/m, /^ +"kind": "List",$/m],
    },
    {
      does: 'prints names, by paths, templates and columns',
      run: `
        kubectl get deployment/web service/web -o name
        kubectl get pods -o jsonpath='{range .items[*]}{.metadata.labels.app}{"="}{.status.phase}{"\\n"}{end}'
        kubectl get deployment web -o go-template='{{.metadata.name}} has {{.spec.replicas}}{{"\\n"}}'
        kubectl get cm one two -o custom-columns=CALLED:.metadata.name,ORDER:.data.order
        echo 'CALLED .metadata.name' | tr ' ' '\\n' > columns
        kubectl get cm one -o custom-columns-file=columns`,
      says: [
        /^deployment\.apps\/web\nservice\/web$/m,
        /^web=Running\nweb=Running$/m,
        /^web has 2$/m,
        /^CALLED +ORDER\none +2\ntwo +1$/m,
        /^CALLED\none$/m,
      ],
    },
    {
      does: 'selects by labels and fields',
      run: `
        echo equal: $(kubectl get cm -l made=here -o name)
        echo sets: $(kubectl get cm -l 'made in (here,there),made!=there' -o name)
        echo absent: $(kubectl get cm -l '!made' -o name)
        echo field: $(kubectl get cm --field-selector metadata.name=two -o name)
        echo phase: $(kubectl get pods --field-selector status.phase=Pending -o name)
        echo both: $(kubectl get pods -l app=web --field-selector status.phase=Running -o name | wc -l)`,
      says: [
        /^equal: configmap\/one configmap\/two$/m,
        /^sets: configmap\/one configmap\/two$/m,
        /^absent: configmap\/kube-root-ca\.crt$/m,
        /^field: configmap\/two$/m,
        /^phase:$/m,
        /^both: 2$/m,
      ],
    },
    {
      does: 'reports an unsupported selector',
      run: 'kubectl get pods --field-selector spec.absent=1',
      says: 'field label not supported: spec.absent',
      exits: 1,
    },
    {
      does: 'sorts, and reads page by page',
      run: `
        echo sorted: $(kubectl get cm -l made --sort-by=.data.order -o name)
        echo paged: $(kubectl get cm --chunk-size=1 -o name)`,
      says: [
        /^sorted: configmap\/two configmap\/one$/m,
        /^paged: configmap\/kube-root-ca\.crt configmap\/one configmap\/two$/m,
      ],
    },
    {
      does: 'reads all namespaces',
      run: 'kubectl get pods,cm -A',
      says: [/^NAMESPACE +NAME +/m, /^reading-\d+ +pod\/web-/m, /^default +configmap\//m],
    },
    {
      does: 'watches without missing a change',
      run: `
        exec 3< <(exec kubectl get cm one --watch --output-watch-events --no-headers)
        watching=$!
        ${until('ADDED*')}
        kubectl label cm one seen=yes > /dev/null; ${until('MODIFIED*')}
        kubectl delete cm one > /dev/null; ${until('DELETED*')}
        kill $watching`,
      says: /^ADDED +one +1 .*\nMODIFIED +one +1 .*\nDELETED +one +1 .*\n$/,
    },
    {
      does: 'watches later changes only',
      run: `
        exec 3< <(exec kubectl get cm --watch-only -o name)
        watching=$!
        (while kubectl annotate cm two --overwrite at=$RANDOM; do :; done) > /dev/null &
        annotating=$!
        read -ru 3 line; echo "$line"
        kill $watching $annotating`,
      says: /^configmap\/two\n$/,
    },
    {
      does: 'describes each kind',
      run: `
        kubectl describe deployment web
        kubectl describe service web
        kubectl describe endpoints web
        kubectl describe cm two
        kubectl describe namespace "$NAMESPACE"
        kubectl describe serviceaccount default
        kubectl describe node "$NODE"`,
      says: [
        /^Replicas: +2 desired \| 2 updated \| 2 total \| 2 available \| 0 unavailable$/m,
        /ScalingReplicaSet .* Scaled up replica set web-\w+ to 2/,
        /^Selector: +app=web$/m,
        /^ +Addresses: +10\.\S+,10\.\S+$/m,
        /^order:\n----\n1$/m,
        /^Status: +Active$/m,
        /^Name: +default$/m,
        /^ +Ready +True .*KubeletReady/m,
        /^ +cpu +\d+/m,
      ],
    },
    {
      does: 'describes a pod with its events',
      run: 'kubectl describe "$(kubectl get pods -o name | head -n 1)"',
      says: [
        /^Controlled By: +ReplicaSet\/web-/m,
        /^ +State: +Running$/m,
        /^QoS Class: +BestEffort$/m,
        /Normal +Scheduled .*Successfully assigned/,
        /Normal +Started /,
      ],
    },
    {
      does: 'lists events, sorted and of one object',
      run: `
        kubectl get events --sort-by=.metadata.creationTimestamp
        kubectl get events --field-selector involvedObject.kind=Deployment -o name | wc -l`,
      says: [/^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE$/m, /Normal +Started +pod\/web-/, /^1$/m],
    },
    {
      does: 'lists events with the command for them',
      run: 'kubectl events --for deployment/web; kubectl events --types=Warning',
      says: [/ScalingReplicaSet +Deployment\/web /, /No events found/],
      saysNot: /Pod\//,
      since: 26,
    },
    {
      does: 'reports missing objects and unknown kinds',
      run: `
        kubectl get pod absent --ignore-not-found
        kubectl get pod absent && exit 9
        kubectl get absent`,
      says: [
        'Error from server (NotFound): pods "absent" not found',
        'the server doesn\'t have a resource type "absent"',
      ],
      exits: 1,
    },
  ],
};
