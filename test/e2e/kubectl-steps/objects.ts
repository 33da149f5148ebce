/** Objects created, changed and deleted one by one. */
import type { Topic } from '../support/kubectl-session.js';

const configMap = (name: string, data: object, metadata: object = {}) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data });
const data = (name: string) => `kubectl get cm ${name} -o jsonpath='{.data}'`;

export const objects: Topic = {
  name: 'objects',
  steps: [
    {
      does: 'creates from a file, and again fails',
      run: `kubectl create -f - <<< '${configMap('a', { x: '1' })}' && kubectl create -f - <<< '${configMap('a', {})}'`,
      says: ['configmap/a created', 'AlreadyExists', 'configmaps "a" already exists'],
      exits: 1,
    },
    {
      does: 'creates kinds that have a command of their own',
      run: `
        kubectl create configmap made --from-literal=x=1 --from-literal=y=2
        kubectl create secret generic made --from-literal=password=word
        kubectl create serviceaccount made
        kubectl create service clusterip made --tcp=80:8080
        kubectl create service nodeport made-too --tcp=80
        kubectl create priorityclass "$NAMESPACE" --value=7
        kubectl delete priorityclass "$NAMESPACE"
        kubectl get secret made -o jsonpath='{.data.password}' | base64 -d`,
      says: [
        'configmap/made created',
        'secret/made created',
        'serviceaccount/made created',
        'service/made created',
        /priorityclass\.scheduling\.k8s\.io "?\S+"? deleted/,
        /word$/,
      ],
    },
    {
      does: 'creates under a name that the server generates',
      run: `kubectl create -f - <<< '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"any-"}}'`,
      says: /^configmap\/any-[a-z0-9]{5} created$/m,
    },
    {
      does: 'creates a token for an account',
      run: "kubectl create token made | cut -d. -f2 | tr '_-' '/+' | base64 -d 2>/dev/null || true",
      says: /"sub":"system:serviceaccount:objects-\d+:made"/,
      since: 24,
    },
    {
      does: 'creates nothing on a dry run of either side',
      run: `
        kubectl create cm dry --from-literal=x=1 --dry-run=client -o name
        kubectl create cm dry --from-literal=x=1 --dry-run=server -o jsonpath='{.metadata.uid}{"\\n"}'
        kubectl get cm dry`,
      says: ['configmap/dry\n', /^[0-9a-f]{8}-\S+$/m, 'configmaps "dry" not found'],
      exits: 1,
    },
    {
      does: 'says which field is unknown',
      run: `kubectl create -f - <<< '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bad"},"dataa":{}}'`,
      says: 'unknown field "dataa"',
      exits: 1,
    },
    {
      does: 'says which value is invalid',
      run: `kubectl create -f - <<< '${configMap('Bad_Name', {})}'`,
      says: /The ConfigMap "Bad_Name" is invalid: metadata\.name: Invalid value: "Bad_Name"/,
      exits: 1,
    },
    {
      does: 'replaces',
      run: `kubectl replace -f - <<< '${configMap('a', { x: '2' })}'; ${data('a')}`,
      says: ['configmap/a replaced', '{"x":"2"}'],
    },
    {
      does: 'refuses to replace an object that changed since it was read',
      run: `
        kubectl get cm a -o json > stale.json
        kubectl label cm a changed=yes
        kubectl replace -f stale.json`,
      says: ['the object has been modified; please apply your changes to the latest version'],
      exits: 1,
    },
    {
      does: 'replaces by force, which creates another object',
      run: `
        before=$(kubectl get cm a -o jsonpath='{.metadata.uid}')
        kubectl replace --force -f - <<< '${configMap('a', { x: '3' })}'
        test "$before" != "$(kubectl get cm a -o jsonpath='{.metadata.uid}')"`,
      says: [/configmap "a" deleted/, 'configmap/a replaced'],
    },
    {
      does: 'patches in three ways',
      run: `
        kubectl patch cm a --type=merge -p '{"data":{"y":"1"}}'
        kubectl patch cm a --type=json -p '[{"op":"test","path":"/data/y","value":"1"},{"op":"replace","path":"/data/y","value":"2"}]'
        ${data('a')}; echo
        kubectl patch service made --type=strategic -p '{"spec":{"ports":[{"port":81,"name":"more"}]}}'
        kubectl get service made -o jsonpath='{.spec.ports[*].port}'`,
      says: ['configmap/a patched', '{"x":"3","y":"2"}', 'service/made patched', /^81 80$/m],
    },
    {
      does: 'says that a patch changes nothing, or does not hold',
      run: `
        kubectl patch cm a --type=merge -p '{"data":{"y":"2"}}'
        kubectl patch cm a --type=json -p '[{"op":"test","path":"/data/y","value":"9"}]'`,
      says: ['configmap/a patched (no change)', 'The request is invalid'],
      exits: 1,
    },
    {
      does: 'patches without sending',
      run: `kubectl patch -f - --local --type=merge -p '{"data":{"z":"1"}}' -o yaml <<< '${configMap('a', {})}'`,
      says: 'z: "1"',
    },
    {
      does: 'labels, and overwrites a label only with a flag',
      run: `
        kubectl label cm a tier=one
        kubectl label cm a tier=two && exit 9
        kubectl label cm a tier=two --overwrite
        kubectl get cm -l tier=two -o name
        kubectl label cm --all tier-
        kubectl get cm -l tier -o name`,
      says: ['configmap/a labeled', "'tier' already has a value (one)", /^configmap\/a$/m],
    },
    {
      does: 'annotates',
      run: `
        kubectl annotate cm a note='a word'
        kubectl get cm a -o jsonpath='{.metadata.annotations.note}{"\\n"}'
        kubectl annotate cm a note-
        kubectl get cm a -o jsonpath='{.metadata.annotations}'`,
      says: ['configmap/a annotated', /^a word$/m],
      saysNot: /"note"/,
    },
    {
      does: 'edits',
      run: `KUBE_EDITOR='sed -i s/x:.*/x:\\ edited/' kubectl edit cm a; ${data('a')}`,
      says: ['configmap/a edited', '{"x":"edited","y":"2"}'],
    },
    {
      does: 'edits nothing when nothing was changed',
      run: 'KUBE_EDITOR=true kubectl edit cm a',
      says: 'Edit cancelled, no changes made.',
    },
    {
      does: 'shows the editor again what the server refuses',
      run: `
        cat > editor <<'END'
#!/bin/sh
# First a name that is not allowed, then, after the refusal, a valid one.
if grep -q '^# .*Invalid value' "$1"; then sed -i 's/good_bad\\/\\/: x/good: x/' "$1"
else sed -i 's/^  labels:/  labels:\\n    good_bad\\/\\/: x/' "$1"; fi
END
        chmod +x editor; kubectl label cm a editable=yes
        KUBE_EDITOR=./editor kubectl edit cm a
        kubectl get cm a --show-labels --no-headers`,
      says: ['configmap/a edited', /good=x/],
    },
    {
      does: 'deletes by name, and again fails',
      run: 'kubectl delete cm made && kubectl delete cm made',
      says: [/configmap "made" deleted/, 'configmaps "made" not found'],
      exits: 1,
    },
    {
      does: 'deletes by selector, of several kinds, all, and objects that may be missing',
      run: `
        kubectl label cm a gone=yes; kubectl label secret made gone=yes
        kubectl delete cm,secret -l gone=yes
        kubectl delete service --all
        kubectl delete service made --ignore-not-found
        kubectl get cm,secret,service -l gone=yes`,
      says: [
        /configmap "a" deleted/,
        /secret "made" deleted/,
        /service "made-too" deleted/,
        /No resources found/,
      ],
    },
    {
      does: 'waits until an object is deleted',
      run: `
        kubectl create -f - <<< '${configMap('held', {}, { finalizers: ['test/held'] })}'
        kubectl delete cm held --wait=false
        exec 3< <(exec kubectl wait --for=delete cm/held --timeout=60s -v=6 2>&1)
        until read -ru 3 line; [[ $line == *GET*configmaps*held* ]]; do :; done
        kubectl patch cm held --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
        cat <&3`,
      says: [/configmap "held" deleted/, 'configmap/held patched', 'configmap/held condition met'],
    },
    {
      does: 'deletes a namespace with its content, and waits for that',
      run: `
        kubectl create namespace "$NAMESPACE-other"
        kubectl create cm inside -n "$NAMESPACE-other" --from-literal=x=1
        kubectl delete namespace "$NAMESPACE-other" --timeout=60s
        kubectl get cm -n "$NAMESPACE-other" -o name; kubectl get ns "$NAMESPACE-other"`,
      says: [/namespace "\S+-other" deleted/, /namespaces "\S+-other" not found/],
      saysNot: /configmap\/inside$/m,
      exits: 1,
    },
  ],
};
