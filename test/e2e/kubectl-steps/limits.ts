/**
 * Limits of a namespace: quotas, limit ranges, default classes; and the status of the control
 * plane.
 */
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
      does: 'describes a quota and its usage',
      run: `
        kubectl create quota small --hard=services=2,requests.storage=1Gi
        until kubectl get quota small -o jsonpath='{.status.used}' | grep -q services; do sleep 0.2; done
        kubectl create service externalname one --external-name=a.example
        kubectl describe quota small
        kubectl get quota small`,
      says: [
        /^services +1 +2$/m,
        /^requests\.storage +0 +1Gi$/m,
        /^small .*requests\.storage: 0\/1Gi, services: 1\/2/m,
      ],
    },
    {
      does: 'is refused when the quota is exceeded',
      run: `
        kubectl create service externalname two --external-name=a.example --dry-run=server
        kubectl create service externalname two --external-name=a.example
        kubectl create -f - <<< '${claim('a', { storageClassName: 'x' })}'
        kubectl create -f - <<< '${claim('b', { storageClassName: 'x' })}' && exit 9
        kubectl create service externalname three --external-name=a.example`,
      says: [
        'exceeded quota: small, requested: requests.storage=1Gi, used: requests.storage=1Gi, limited: requests.storage=1Gi',
        'exceeded quota: small, requested: services=1, used: services=2, limited: services=2',
      ],
      exits: 1,
    },
    {
      does: 'can use the quota of deleted objects again',
      run: `
        kubectl delete service one
        until kubectl create service externalname three --external-name=a.example; do sleep 0.2; done
        kubectl describe namespace "$NAMESPACE"`,
      says: ['service/three created', /services +2 +2/],
    },
    {
      does: 'describes limits, which default and refuse pods',
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
      does: 'lists the components of the control plane',
      run: 'kubectl get componentstatuses',
      says: [/^scheduler +Healthy +ok/m, /^controller-manager +Healthy +ok/m, /^etcd-0 +Healthy/m],
    },
  ],
};
