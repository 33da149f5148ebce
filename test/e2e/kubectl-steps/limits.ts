/** What a namespace may have: quotas, limit ranges, default classes; and what the control plane says of itself. */
import type { Topic } from '../support/kubectl-session.js';

const limitRange = JSON.stringify({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'bounds' },
  spec: {
    limits: [
      {
        type: 'Container',
        default: { cpu: '200m' },
        defaultRequest: { cpu: '100m' },
        max: { cpu: '1' },
      },
    ],
  },
});
const claim = (name: string, spec: object) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  });
const pod = (name: string, cpu?: string) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      nodeSelector: { nowhere: 'true' },
      containers: [{ name: 'a', image: 'i', ...(cpu && { resources: { limits: { cpu } } }) }],
    },
  });

export const limits: Topic = {
  name: 'limits',
  steps: [
    {
      does: 'describes a quota, and what has been used of it',
      run: `
        kubectl create quota small --hard=secrets=2,requests.storage=1Gi
        until kubectl get quota small -o jsonpath='{.status.used}' | grep -q secrets; do sleep 0.2; done
        kubectl create secret generic one
        kubectl describe quota small
        kubectl get quota small`,
      says: [
        /^secrets +1 +2$/m,
        /^requests\.storage +0 +1Gi$/m,
        /^small .*requests\.storage: 0\/1Gi, secrets: 1\/2/m,
      ],
    },
    {
      does: 'is refused what the quota has not',
      run: `
        kubectl create secret generic two --dry-run=server
        kubectl create secret generic two
        kubectl create -f - <<< '${claim('a', { storageClassName: 'x' })}'
        kubectl create -f - <<< '${claim('b', { storageClassName: 'x' })}' && exit 9
        kubectl create secret generic three`,
      says: [
        'exceeded quota: small, requested: requests.storage=1Gi, used: requests.storage=1Gi, limited: requests.storage=1Gi',
        'exceeded quota: small, requested: secrets=1, used: secrets=2, limited: secrets=2',
      ],
      exits: 1,
    },
    {
      does: 'gets back what is deleted',
      run: `
        kubectl delete secret one
        until kubectl create secret generic three; do sleep 0.2; done
        kubectl describe namespace "$NAMESPACE"`,
      says: ['secret/three created', /secrets +2 +2/],
    },
    {
      does: 'describes limits, and has pods filled in and refused by them',
      run: `
        kubectl create -f - <<< '${limitRange}'
        kubectl describe limits bounds
        kubectl create -f - <<< '${pod('filled')}'
        kubectl get pod filled -o jsonpath='{.spec.containers[0].resources}'
        kubectl delete pod filled --now
        kubectl create -f - <<< '${pod('large', '2')}'`,
      says: [
        /^Container +cpu +- +1 +100m +200m +-$/m,
        '{"limits":{"cpu":"200m"},"requests":{"cpu":"100m"}}',
        'maximum cpu usage per Container is 1, but limit is 2',
      ],
      exits: 1,
    },
    {
      does: 'lists the parts of the control plane',
      run: 'kubectl get componentstatuses',
      says: [/^scheduler +Healthy +ok/m, /^controller-manager +Healthy +ok/m, /^etcd-0 +Healthy/m],
    },
  ],
};
