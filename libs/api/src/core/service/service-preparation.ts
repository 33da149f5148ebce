/**
 * Prepares a service before validation: defaults by type, and on a type change drops the values
 * that the new type does not have, unless the client changed them in the same write.
 */
import { semanticallyEqual } from '@orch/apimachinery';
import type { Features } from '@orch/component';
import type { Service, ServiceSpec } from '@orch/types/core/v1';
import type { GatedField } from '../../definition.js';
import { firstOnly } from '../../shared/gated-fields.js';
import {
  needsClusterIp,
  needsHealthCheckNodePort,
  needsNodePort,
  specOf,
} from './service-types.js';

const affinitySeconds = 3 * 60 * 60;

export function setServiceDefaults(object: Service, features: Features): void {
  const spec = specOf(object);
  for (const port of spec.ports ?? []) {
    if (!port.targetPort) port.targetPort = port.port;
  }
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (
    spec.sessionAffinity === 'ClientIP' &&
    spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined
  ) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: affinitySeconds } };
  }
  if (needsNodePort(spec) && !spec.externalTrafficPolicy) spec.externalTrafficPolicy = 'Cluster';
  if (spec.type === 'LoadBalancer' && features.enabled('ServiceLBNodePortControl')) {
    spec.allocateLoadBalancerNodePorts ??= true;
  }
  if (spec.type !== 'ExternalName' && features.enabled('ServiceInternalTrafficPolicy')) {
    spec.internalTrafficPolicy ??= 'Cluster';
  }
}

export const gatedServiceFields: readonly GatedField[] = [
  { gate: 'ServiceInternalTrafficPolicy', path: 'spec.internalTrafficPolicy' },
  { gate: 'ServiceTopology', path: 'spec.topologyKeys' },
  { gate: 'IPv6DualStack', path: 'spec.clusterIPs', off: firstOnly },
  { gate: 'IPv6DualStack', path: 'spec.ipFamilies' },
  { gate: 'IPv6DualStack', path: 'spec.ipFamilyPolicy' },
  { gate: 'MixedProtocolLBService', path: 'status.conditions' },
  { gate: 'MixedProtocolLBService', path: 'status.loadBalancer.ingress[].ports' },
  { gate: 'ServiceLBNodePortControl', path: 'spec.allocateLoadBalancerNodePorts' },
  { gate: 'ServiceLoadBalancerClass', path: 'spec.loadBalancerClass' },
];

export function prepareServiceForCreate(object: Service): void {
  const spec = specOf(object);
  object.status = { loadBalancer: {} };
  if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
}

export function prepareServiceForUpdate(object: Service, old: Service): void {
  const spec = specOf(object);
  const before = old.spec ?? {};
  object.status = old.status;
  keepAddressesInStep(spec, before);
  dropAddresses(spec, before);
  dropPorts(spec, before);
  if (before.type !== 'LoadBalancer' || spec.type === 'LoadBalancer') return;
  for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const) {
    if (spec[field] === before[field]) delete spec[field];
  }
}

/** The single address is the first of the list; the one that changed wins. */
function keepAddressesInStep(spec: ServiceSpec, before: ServiceSpec): void {
  const isSame = (spec.clusterIP ?? '') === (before.clusterIP ?? '');
  if (isSame && before.clusterIPs && !spec.clusterIPs?.length) {
    spec.clusterIPs = [...before.clusterIPs];
  }
  const sameList = semanticallyEqual(spec.clusterIPs, before.clusterIPs);
  if (!spec.clusterIP && before.clusterIP && sameList) delete spec.clusterIPs;
  else if (spec.clusterIP && spec.clusterIP !== before.clusterIP && sameList) {
    spec.clusterIPs = [spec.clusterIP, ...(spec.clusterIPs?.slice(1) ?? [])];
  }
}

function dropAddresses(spec: ServiceSpec, before: ServiceSpec): void {
  const dropSame = (field: 'clusterIP' | 'clusterIPs' | 'ipFamilies' | 'ipFamilyPolicy') => {
    if (semanticallyEqual(spec[field], before[field])) delete spec[field];
  };
  if (needsClusterIp(before) && !needsClusterIp(spec)) {
    dropSame('clusterIP');
    dropSame('clusterIPs');
    dropSame('ipFamilies');
    dropSame('ipFamilyPolicy');
  }
  const becomesSingle =
    spec.ipFamilyPolicy === 'SingleStack' && before.ipFamilyPolicy !== 'SingleStack';
  if (!becomesSingle) return;
  for (const field of ['clusterIPs', 'ipFamilies'] as const) {
    if ((spec[field]?.length ?? 0) > 1 && semanticallyEqual(spec[field], before[field])) {
      spec[field] = spec[field]?.slice(0, 1);
    }
  }
}

function dropPorts(spec: ServiceSpec, before: ServiceSpec): void {
  if (needsNodePort(before) && !needsNodePort(spec)) {
    if (sameNodePorts(spec, before)) for (const port of spec.ports ?? []) delete port.nodePort;
    if (spec.externalTrafficPolicy === before.externalTrafficPolicy) {
      delete spec.externalTrafficPolicy;
    }
  }
  if (
    needsHealthCheckNodePort(before) &&
    !needsHealthCheckNodePort(spec) &&
    spec.healthCheckNodePort === before.healthCheckNodePort
  ) {
    delete spec.healthCheckNodePort;
  }
}

function sameNodePorts(spec: ServiceSpec, before: ServiceSpec): boolean {
  const numbers = (of: ServiceSpec) =>
    (of.ports ?? []).map(({ nodePort }) => nodePort ?? 0).sort((a, b) => a - b);
  return semanticallyEqual(numbers(spec), numbers(before));
}
