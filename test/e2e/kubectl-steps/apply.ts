/** Apply in both ways, diff and prune. */
import type { Topic } from '../support/kubectl-session.js';

const configMap = (name: string, data: object, labels: object = { set: 'x' }) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data });
const data = (name: string) => `kubectl get cm ${name} -o jsonpath='{.data}'`;
const a = (data: object) => `<<< '${configMap('a', data)}'`;
/** Limits prune to served kinds; its default list has others. */
const pruned = (flag: string) => `--prune -l set=x ${flag}=core/v1/ConfigMap`;
const deployment = JSON.stringify({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'idle' },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'idle' } },
    template: {
      metadata: { labels: { app: 'idle' } },
      spec: { containers: [{ name: 'main', image: 'test/idle:1', env: [{ name: 'A' }] }] },
    },
  },
});

const pruneScript = (flag: string) => `
  kubectl apply -f - <<< '${configMap('kept', {})}'
  kubectl apply -f - <<< '${configMap('pruned', {})}'
  kubectl apply -f - <<< '${configMap('unlabelled', {}, {})}'
  kubectl apply ${pruned(flag)} -f - <<< '${configMap('kept', {})}'
  kubectl get cm -o name`;
const pruneSays = [/^configmap\/pruned pruned$/m, /^configmap\/kept$/m, /^configmap\/unlabelled$/m];

export const apply: Topic = {
  name: 'apply',
  steps: [
    {
      does: 'creates, changes, and changes nothing the third time',
      run: `
        kubectl apply -f - ${a({ x: '1', y: '1' })}
        kubectl apply -f - ${a({ x: '2', y: '1' })}
        kubectl apply -f - ${a({ x: '2', y: '1' })}; ${data('a')}`,
      says: [/a created\n.*a configured\n.*a unchanged\n/, '{"x":"2","y":"1"}'],
    },
    {
      does: 'removes fields applied before, except those of other clients',
      run: `
        kubectl patch cm a --type=merge -p '{"data":{"other":"1"}}'
        kubectl apply -f - ${a({ x: '2' })}; ${data('a')}`,
      says: '{"other":"1","x":"2"}',
    },
    {
      does: 'shows and sets the last applied configuration',
      run: `
        kubectl apply view-last-applied cm/a
        kubectl apply set-last-applied -f - ${a({ x: '2', other: '1' })}
        kubectl apply -f - ${a({ x: '2' })}; ${data('a')}`,
      says: ['x: "2"', 'configured', /^\{"x":"2"\}$/m],
    },
    {
      does: 'prints a difference, or none',
      run: `kubectl diff -f - ${a({ x: '2' })} && echo none; kubectl diff -f - ${a({ x: '9' })}`,
      says: [/^none$/m, /^- {2}x: "2"$/m, /^\+ {2}x: "9"$/m],
      exits: 1,
    },
    {
      does: 'applies on the server, then owns the fields of client-side apply',
      run: `
        kubectl apply --server-side -f - ${a({ x: '3' })}
        kubectl apply --server-side -f - ${a({ y: '1' })}; ${data('a')}`,
      says: ['configmap/a serverside-applied', '{"y":"1"}'],
      saysNot: /"x"/,
    },
    {
      does: 'reports conflicts, and takes fields over when forced',
      run: `
        kubectl apply --server-side -f - ${a({ x: '3' })}
        kubectl apply --server-side --field-manager=other -f - ${a({ x: '4' })} && exit 9
        kubectl apply --server-side --field-manager=other --force-conflicts -f - ${a({ x: '4' })}
        kubectl get cm a -o jsonpath='{.metadata.managedFields[?(@.manager=="other")].fieldsV1}'`,
      says: [
        'Apply failed with 1 conflict: conflict with "kubectl": .data.x',
        'f:x',
        'serverside-applied',
      ],
    },
    {
      does: 'prints a difference and a conflict of server-side apply',
      run: `
        kubectl diff --server-side --field-manager=other -f - ${a({ x: '5' })} || echo "ends with $?"
        kubectl diff --server-side -f - ${a({ x: '5' })} || echo "ends with $?"
        ${data('a')}`,
      says: [
        /^- {2}x: "4"$/m,
        /^\+ {2}x: "5"$/m,
        /^ends with 1$/m,
        'conflict with "other": .data.x',
        '{"x":"4"}',
      ],
    },
    {
      does: 'applies a deployment in both ways, which creates one replica set',
      run: `
        kubectl apply -f - <<< '${deployment}'
        kubectl apply --server-side -f - <<< '${deployment}'
        kubectl apply -f - <<< '${deployment}'
        until kubectl get rs -l app=idle -o name | grep .; do sleep 0.2; done
        kubectl get deployment idle -o jsonpath='{.metadata.annotations.deployment\\.kubernetes\\.io/revision}'`,
      says: [/idle created\n.*idle serverside-applied\n.*idle (unchanged|configured)\n/, /\n1$/],
    },
    {
      does: 'applies a kustomization',
      run: `
        mkdir -p kustomized
        cat > kustomized/kustomization.yaml <<< '{"namePrefix":"pre-","configMapGenerator":[{"name":"generated","literals":["x=1"]}]}'
        kubectl apply -k kustomized; kubectl get -k kustomized -o name`,
      says: [/configmap\/pre-generated-\w+ created/, /^configmap\/pre-generated-\w+$/m],
    },
    {
      does: 'prunes objects that are no longer applied',
      run: pruneScript('--prune-whitelist'),
      says: pruneSays,
      saysNot: /^configmap\/pruned$/m,
      until: 25,
    },
    {
      does: 'prunes objects that are no longer applied',
      run: pruneScript('--prune-allowlist'),
      says: pruneSays,
      saysNot: /^configmap\/pruned$/m,
      since: 26,
    },
    {
      does: 'prunes by an apply set',
      run: `
        export KUBECTL_APPLYSET=true
        apply() { kubectl apply -n "$NAMESPACE" --prune --applyset=configmaps/together -f -; }
        apply <<< '${configMap('in-set', {})}'
        apply <<< '${configMap('also-in-set', {})}'
        kubectl get cm -o name`,
      says: [/^configmap\/in-set pruned$/m, /^configmap\/also-in-set$/m],
      saysNot: /^configmap\/in-set$/m,
      since: 27,
    },
    {
      does: 'deletes the objects of a file',
      run: `kubectl delete -f - <<< '${configMap('kept', {})}'; kubectl apply --dry-run=server -f - ${a({})}`,
      says: [/configmap "kept" deleted/, 'configmap/a created (server dry run)'],
    },
  ],
};
