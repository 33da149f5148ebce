/** Rules of the roles of cluster components and add-ons, by the name after `system:`. */
import { dialect } from '@orch/component';
import type { PolicyRule } from '@orch/types/rbac.authorization/v1';
import { eventWrites, rule, system } from './rule.js';

const reads = 'get list watch';

export function componentRules(): Readonly<Record<string, PolicyRule[]>> {
  const certificates = dialect().group('certificates');
  return {
    'auth-delegator': [
      rule('create', 'authentication', 'tokenreviews'),
      rule('create', 'authorization', 'subjectaccessreviews'),
    ],
    [`${certificates}:certificatesigningrequests:nodeclient`]: [
      rule('create', 'certificates', 'certificatesigningrequests/nodeclient'),
    ],
    [`${certificates}:certificatesigningrequests:selfnodeclient`]: [
      rule('create', 'certificates', 'certificatesigningrequests/selfnodeclient'),
    ],
    [`${certificates}:${system('apiserver-client-approver')}`]: [
      rule('approve', 'certificates', 'signers', [dialect().key(system('apiserver-client'))]),
    ],
    [`${certificates}:${system('apiserver-client-kubelet-approver')}`]: [
      rule('approve', 'certificates', 'signers', [
        dialect().key(system('apiserver-client-kubelet')),
      ]),
    ],
    [`${certificates}:kubelet-serving-approver`]: [
      rule('approve', 'certificates', 'signers', [dialect().key('kubelet-serving')]),
    ],
    [`${certificates}:legacy-unknown-approver`]: [
      rule('approve', 'certificates', 'signers', [dialect().key('legacy-unknown')]),
    ],
    heapster: [
      rule(reads, 'core', 'events namespaces nodes pods'),
      rule(reads, 'extensions', 'deployments'),
    ],
    [system('aggregator')]: [rule(reads, 'core', 'endpoints services')],
    [system('controller-manager')]: [
      eventWrites(),
      rule('create', 'coordination', 'leases'),
      rule('get update', 'coordination', 'leases', [system('controller-manager')]),
      rule('create', 'core', 'endpoints'),
      rule('get update', 'core', 'endpoints', [system('controller-manager')]),
      rule('create', 'core', 'secrets serviceaccounts'),
      rule('delete', 'core', 'secrets'),
      rule('get', 'core', 'configmaps namespaces secrets serviceaccounts'),
      rule('update', 'core', 'secrets serviceaccounts'),
      rule('create', 'authentication', 'tokenreviews'),
      rule('create', 'authorization', 'subjectaccessreviews'),
      rule('list watch', '*', '*'),
      rule('create', 'core', 'serviceaccounts/token'),
    ],
    [system('dns')]: [rule('list watch', 'core', 'endpoints services')],
    [system('scheduler')]: [
      eventWrites(),
      rule('create', 'coordination', 'leases'),
      rule('get update', 'coordination', 'leases', [system('scheduler')]),
      rule('create', 'core', 'endpoints'),
      rule('get update', 'core', 'endpoints', [system('scheduler')]),
      rule(reads, 'core', 'nodes'),
      rule('delete get list watch', 'core', 'pods'),
      rule('create', 'core', 'bindings pods/binding'),
      rule('patch update', 'core', 'pods/status'),
      rule(reads, 'core', 'replicationcontrollers services'),
      rule(reads, 'apps extensions', 'replicasets'),
      rule(reads, 'apps', 'statefulsets'),
      rule(reads, 'policy', 'poddisruptionbudgets'),
      rule(reads, 'core', 'persistentvolumeclaims persistentvolumes'),
      rule('create', 'authentication', 'tokenreviews'),
      rule('create', 'authorization', 'subjectaccessreviews'),
      rule(reads, 'storage', 'csinodes'),
      rule(reads, 'core', 'namespaces'),
      rule(reads, 'storage', 'csidrivers'),
      rule(reads, 'storage', 'csistoragecapacities'),
    ],
    'kubelet-api-admin': [
      rule(reads, 'core', 'nodes'),
      rule('proxy', 'core', 'nodes'),
      rule('*', 'core', 'nodes/log nodes/metrics nodes/proxy nodes/spec nodes/stats'),
    ],
    node: nodeRules(),
    'node-bootstrapper': [
      rule('create get list watch', 'certificates', 'certificatesigningrequests'),
    ],
    'node-problem-detector': [
      rule('get', 'core', 'nodes'),
      rule('patch', 'core', 'nodes/status'),
      eventWrites(),
    ],
    'node-proxier': [
      rule('list watch', 'core', 'endpoints services'),
      rule(reads, 'core', 'nodes'),
      eventWrites(),
      rule('list watch', 'discovery', 'endpointslices'),
    ],
    'persistent-volume-provisioner': [
      rule('create delete get list watch', 'core', 'persistentvolumes'),
      rule('get list update watch', 'core', 'persistentvolumeclaims'),
      rule(reads, 'storage', 'storageclasses'),
      rule('watch', 'core', 'events'),
      eventWrites(),
    ],
    'volume-scheduler': [
      rule('get list patch update watch', 'core', 'persistentvolumes'),
      rule(reads, 'storage', 'storageclasses'),
      rule('get list patch update watch', 'core', 'persistentvolumeclaims'),
    ],
  };
}

/** What every node agent may do; the node authorizer restricts it to the objects of its node. */
export function nodeRules(): PolicyRule[] {
  return [
    rule('create', 'authentication', 'tokenreviews'),
    rule('create', 'authorization', 'localsubjectaccessreviews subjectaccessreviews'),
    rule(reads, 'core', 'services'),
    rule('create get list watch', 'core', 'nodes'),
    rule('patch update', 'core', 'nodes/status'),
    rule('patch update', 'core', 'nodes'),
    rule('create patch update', 'core', 'events'),
    rule(reads, 'core', 'pods'),
    rule('create delete', 'core', 'pods'),
    rule('patch update', 'core', 'pods/status'),
    rule('create', 'core', 'pods/eviction'),
    rule(reads, 'core', 'configmaps secrets'),
    rule('get', 'core', 'persistentvolumeclaims persistentvolumes'),
    rule('get', 'core', 'endpoints'),
    rule('create get list watch', 'certificates', 'certificatesigningrequests'),
    rule('create delete get patch update', 'coordination', 'leases'),
    rule('get', 'storage', 'volumeattachments'),
    rule('create', 'core', 'serviceaccounts/token'),
    rule('get patch update', 'core', 'persistentvolumeclaims/status'),
    rule(reads, 'storage', 'csidrivers'),
    rule('create delete get patch update', 'storage', 'csinodes'),
    rule(reads, 'node', 'runtimeclasses'),
  ];
}
