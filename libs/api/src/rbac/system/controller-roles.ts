/** Rules of the roles of controllers, by service account. */
import { dialect, type Features } from '@orch/component';
import type { PolicyRule } from '@orch/types/rbac.authorization/v1';
import { eventWrites, rule, system } from './rule.js';

const reads = 'get list watch';

export function controllerRules(features: Features): Readonly<Record<string, PolicyRule[]>> {
  return { ...commonRules(), ...storageVersionRules(features) };
}

/** The controller, too, runs only with both gates. */
function storageVersionRules(features: Features): Record<string, PolicyRule[]> {
  if (!features.enabled('APIServerIdentity') || !features.enabled('StorageVersionAPI')) return {};
  return {
    'storage-version-garbage-collector': [
      rule(reads, 'coordination', 'leases'),
      rule('delete get list patch update watch', 'internal.apiserver', 'storageversions'),
      rule('get patch update', 'internal.apiserver', 'storageversions/status'),
    ],
  };
}

function commonRules(): Record<string, PolicyRule[]> {
  return {
    'attachdetach-controller': [
      rule('list watch', 'core', 'persistentvolumeclaims persistentvolumes'),
      rule(reads, 'core', 'nodes'),
      rule('patch update', 'core', 'nodes/status'),
      rule('list watch', 'core', 'pods'),
      eventWrites(),
      rule('create delete get list watch', 'storage', 'volumeattachments'),
      rule(reads, 'storage', 'csidrivers'),
      rule(reads, 'storage', 'csinodes'),
    ],
    'certificate-controller': [
      rule('delete get list watch', 'certificates', 'certificatesigningrequests'),
      rule(
        'update',
        'certificates',
        'certificatesigningrequests/approval certificatesigningrequests/status',
      ),
      rule('approve', 'certificates', 'signers', [
        dialect().key(system('apiserver-client-kubelet')),
      ]),
      rule('sign', 'certificates', 'signers', [
        dialect().key(system('apiserver-client')),
        dialect().key(system('apiserver-client-kubelet')),
        dialect().key('kubelet-serving'),
        dialect().key('legacy-unknown'),
      ]),
      rule('create', 'authorization', 'subjectaccessreviews'),
      eventWrites(),
    ],
    'clusterrole-aggregation-controller': [
      rule('escalate get list patch update watch', 'rbac.authorization', 'clusterroles'),
    ],
    'cronjob-controller': [
      rule('get list update watch', 'batch', 'cronjobs'),
      rule('create delete get list patch update watch', 'batch', 'jobs'),
      rule('update', 'batch', 'cronjobs/status'),
      rule('update', 'batch', 'cronjobs/finalizers'),
      rule('delete list', 'core', 'pods'),
      eventWrites(),
    ],
    'daemon-set-controller': [
      rule(reads, 'apps extensions', 'daemonsets'),
      rule('update', 'apps extensions', 'daemonsets/status'),
      rule('update', 'apps extensions', 'daemonsets/finalizers'),
      rule('list watch', 'core', 'nodes'),
      rule('create delete list patch watch', 'core', 'pods'),
      rule('create', 'core', 'pods/binding'),
      rule('create delete get list patch update watch', 'apps', 'controllerrevisions'),
      eventWrites(),
    ],
    'deployment-controller': [
      rule('get list update watch', 'apps extensions', 'deployments'),
      rule('update', 'apps extensions', 'deployments/status'),
      rule('update', 'apps extensions', 'deployments/finalizers'),
      rule('create delete get list patch update watch', 'apps extensions', 'replicasets'),
      rule('get list update watch', 'core', 'pods'),
      eventWrites(),
    ],
    'disruption-controller': [
      rule(reads, 'apps extensions', 'deployments'),
      rule(reads, 'apps extensions', 'replicasets'),
      rule(reads, 'core', 'replicationcontrollers'),
      rule(reads, 'policy', 'poddisruptionbudgets'),
      rule(reads, 'apps', 'statefulsets'),
      rule('update', 'policy', 'poddisruptionbudgets/status'),
      rule('get', '*', '*/scale'),
      eventWrites(),
    ],
    'endpoint-controller': [
      rule(reads, 'core', 'pods services'),
      rule('create delete get list update', 'core', 'endpoints'),
      rule('create', 'core', 'endpoints/restricted'),
      eventWrites(),
    ],
    'endpointslice-controller': [
      rule(reads, 'core', 'nodes pods services'),
      rule('update', 'core', 'services/finalizers'),
      rule('create delete get list update', 'discovery', 'endpointslices'),
      eventWrites(),
    ],
    'endpointslicemirroring-controller': [
      rule(reads, 'core', 'endpoints services'),
      rule('update', 'core', 'services/finalizers'),
      rule('update', 'core', 'endpoints/finalizers'),
      rule('create delete get list update', 'discovery', 'endpointslices'),
      eventWrites(),
    ],
    'ephemeral-volume-controller': [
      rule(reads, 'core', 'pods'),
      rule('update', 'core', 'pods/finalizers'),
      rule('create get list watch', 'core', 'persistentvolumeclaims'),
      eventWrites(),
    ],
    'expand-controller': [
      rule('get list patch update watch', 'core', 'persistentvolumes'),
      rule('patch update', 'core', 'persistentvolumeclaims/status'),
      rule(reads, 'core', 'persistentvolumeclaims'),
      rule(reads, 'storage', 'storageclasses'),
      rule('get', 'core', 'endpoints services'),
      rule('get', 'core', 'secrets'),
      eventWrites(),
    ],
    'generic-garbage-collector': [
      rule('delete get list patch update watch', '*', '*'),
      eventWrites(),
    ],
    'horizontal-pod-autoscaler': [
      rule(reads, 'autoscaling', 'horizontalpodautoscalers'),
      rule('update', 'autoscaling', 'horizontalpodautoscalers/status'),
      rule('get update', '*', '*/scale'),
      rule('list', 'core', 'pods'),
      rule('get', 'core', 'services/proxy', ['http:heapster:', 'https:heapster:']),
      rule('list', 'metrics', 'pods'),
      rule('get list', 'custom.metrics', '*'),
      eventWrites(),
    ],
    'job-controller': [
      rule('get list update watch', 'batch', 'jobs'),
      rule('update', 'batch', 'jobs/status'),
      rule('update', 'batch', 'jobs/finalizers'),
      rule('create delete list patch watch', 'core', 'pods'),
      eventWrites(),
    ],
    'namespace-controller': [
      rule('delete get list watch', 'core', 'namespaces'),
      rule('update', 'core', 'namespaces/finalize namespaces/status'),
      rule('delete deletecollection get list', '*', '*'),
    ],
    'node-controller': [
      rule('delete get list patch update', 'core', 'nodes'),
      rule('patch update', 'core', 'nodes/status'),
      rule('update', 'core', 'pods/status'),
      rule('delete list', 'core', 'pods'),
      eventWrites(),
    ],
    'persistent-volume-binder': [
      rule('create delete get list update watch', 'core', 'persistentvolumes'),
      rule('update', 'core', 'persistentvolumes/status'),
      rule('get list update watch', 'core', 'persistentvolumeclaims'),
      rule('update', 'core', 'persistentvolumeclaims/status'),
      rule('create delete get list watch', 'core', 'pods'),
      rule(reads, 'storage', 'storageclasses'),
      rule('create delete get update', 'core', 'endpoints'),
      rule('create delete get', 'core', 'services'),
      rule('get', 'core', 'secrets'),
      rule('get list', 'core', 'nodes'),
      rule('watch', 'core', 'events'),
      eventWrites(),
    ],
    'pod-garbage-collector': [
      rule('delete list watch', 'core', 'pods'),
      rule('get list', 'core', 'nodes'),
    ],
    'pv-protection-controller': [
      rule('get list update watch', 'core', 'persistentvolumes'),
      eventWrites(),
    ],
    'pvc-protection-controller': [
      rule('get list update watch', 'core', 'persistentvolumeclaims'),
      rule(reads, 'core', 'pods'),
      eventWrites(),
    ],
    'replicaset-controller': [
      rule('get list update watch', 'apps extensions', 'replicasets'),
      rule('update', 'apps extensions', 'replicasets/status'),
      rule('update', 'apps extensions', 'replicasets/finalizers'),
      rule('create delete list patch watch', 'core', 'pods'),
      eventWrites(),
    ],
    'replication-controller': [
      rule('get list update watch', 'core', 'replicationcontrollers'),
      rule('update', 'core', 'replicationcontrollers/status'),
      rule('update', 'core', 'replicationcontrollers/finalizers'),
      rule('create delete list patch watch', 'core', 'pods'),
      eventWrites(),
    ],
    'resourcequota-controller': [
      rule('list watch', '*', '*'),
      rule('update', 'core', 'resourcequotas/status'),
      eventWrites(),
    ],
    'root-ca-cert-publisher': [rule('create update', 'core', 'configmaps'), eventWrites()],
    'route-controller': [
      rule('list watch', 'core', 'nodes'),
      rule('patch', 'core', 'nodes/status'),
      eventWrites(),
    ],
    'service-account-controller': [rule('create', 'core', 'serviceaccounts'), eventWrites()],
    'service-controller': [
      rule(reads, 'core', 'services'),
      rule('patch update', 'core', 'services/status'),
      rule('list watch', 'core', 'nodes'),
      eventWrites(),
    ],
    'statefulset-controller': [
      rule('list watch', 'core', 'pods'),
      rule(reads, 'apps', 'statefulsets'),
      rule('update', 'apps', 'statefulsets/status'),
      rule('update', 'apps', 'statefulsets/finalizers'),
      rule('create delete get patch update', 'core', 'pods'),
      rule('create delete get list patch update watch', 'apps', 'controllerrevisions'),
      rule('create get', 'core', 'persistentvolumeclaims'),
      eventWrites(),
    ],
    'ttl-after-finished-controller': [
      rule('delete get list watch', 'batch', 'jobs'),
      eventWrites(),
    ],
    'ttl-controller': [rule('list patch update watch', 'core', 'nodes'), eventWrites()],
  };
}
