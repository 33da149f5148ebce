/** Rules of services, in the order in which errors are reported. */
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkIp,
  checkPortNumber,
  type FieldError,
  type FieldPath,
  fieldError,
  isCidr,
  isIp,
  path,
  validateLabels,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { LoadBalancerStatus, Service, ServicePort, ServiceSpec } from '@orch/types/core/v1';
import {
  checkOneOf,
  checkQualified,
  checkRequired,
  checkRequiredOneOf,
  invalidEach,
} from '../shared/rules.js';
import { validateReachableIp } from './ip-rules.js';
import { validatePort } from './probe-validation.js';
import { validateClusterIps } from './service-ip-validation.js';
import {
  headless,
  isHeadless,
  needsHealthCheckNodePort,
  needsNodePort,
  ports,
} from './service-types.js';

const serviceTypes = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const affinitySecondsMax = 86_400;
const nodeAgentPort = 10_250;

export function validateService(object: Service): FieldError[] {
  const spec = object.spec ?? {};
  const at = path('spec');
  return [
    ...validateByType(spec, at),
    ...validatePorts(spec, at.child('ports')),
    ...validateLabels(spec.selector, at.child('selector')),
    ...validateAffinity(spec, at),
    ...validateClusterIps(spec, at),
    ...validateExternalIps(spec.externalIPs ?? [], at.child('externalIPs')),
    ...checkRequiredOneOf(spec.type, serviceTypes, at.child('type')),
    ...validateNodePorts(spec, at.child('ports')),
    ...validateUniquePorts(spec, at.child('ports')),
    ...validateSourceRanges(object, at.child('LoadBalancerSourceRanges')),
    ...validateTrafficPolicy(spec, at),
    ...validateBalancerFields(spec, at),
  ];
}

function validateBalancerFields(spec: ServiceSpec, at: FieldPath): FieldError[] {
  if (spec.type === 'LoadBalancer') {
    const { loadBalancerClass } = spec;
    if (loadBalancerClass === undefined) return [];
    return checkQualified(loadBalancerClass, at.child('loadBalancerClass'));
  }
  return (['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const).flatMap((field) =>
    spec[field] === undefined
      ? []
      : [fieldError.forbidden(at.child(field), "may only be used when `type` is 'LoadBalancer'")],
  );
}

/** It cannot go over to another balancer. */
export function validateBalancerClassUpdate(object: Service, old: Service): FieldError[] {
  const [now, before] = [object.spec ?? {}, old.spec ?? {}];
  if (now.type !== 'LoadBalancer' || before.type !== 'LoadBalancer') return [];
  if (now.loadBalancerClass === before.loadBalancerClass) return [];
  const at = path('spec', 'loadBalancerClass');
  return [fieldError.invalid(at, now.loadBalancerClass, 'may not change once set')];
}

/** One protocol a balancer; what has more of them from before may keep them. */
export function validateProtocols(object: Service, old?: Service): FieldError[] {
  if (!hasMixedProtocols(object) || (old && hasMixedProtocols(old))) return [];
  return [
    fieldError.invalid(
      path('spec', 'ports'),
      object.spec?.ports,
      "may not contain more than 1 protocol when type is 'LoadBalancer'",
    ),
  ];
}

function hasMixedProtocols({ spec = {} }: Service): boolean {
  return (
    spec.type === 'LoadBalancer' && new Set(ports(spec).map(({ protocol }) => protocol)).size > 1
  );
}

function validateByType(spec: ServiceSpec, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (ports(spec).length === 0 && !isHeadless(spec) && spec.type !== 'ExternalName') {
    errors.push(fieldError.required(at.child('ports')));
  }
  switch (spec.type) {
    case 'LoadBalancer':
      for (const [index, port] of ports(spec).entries()) {
        if (port.port !== nodeAgentPort) continue;
        errors.push(
          fieldError.invalid(
            at.child('ports').index(index),
            port.port,
            `may not expose port ${nodeAgentPort} externally since it is used by kubelet`,
          ),
        );
      }
      return [...errors, ...refuseHeadless(spec, at)];
    case 'NodePort':
      return [...errors, ...refuseHeadless(spec, at)];
    case 'ExternalName':
      return [...errors, ...validateExternalName(spec, at)];
    default:
      return errors;
  }
}

function refuseHeadless(spec: ServiceSpec, at: FieldPath): FieldError[] {
  return isHeadless(spec)
    ? [
        fieldError.invalid(
          at.child('clusterIPs').index(0),
          headless,
          `may not be set to 'None' for ${spec.type} services`,
        ),
      ]
    : [];
}

function validateExternalName(spec: ServiceSpec, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const) {
    if (!spec[field]?.length) continue;
    errors.push(fieldError.forbidden(at.child(field), 'may not be set for ExternalName services'));
  }
  const name = spec.externalName?.replace(/\.$/, '');
  return [...errors, ...checkRequired(name, at.child('externalName'), checkDns1123Subdomain)];
}

function validatePorts(spec: ServiceSpec, at: FieldPath): FieldError[] {
  const names = new Set<string>();
  const nameRequired = ports(spec).length > 1;
  return ports(spec).flatMap((port, index) =>
    validateServicePort(port, nameRequired, names, at.index(index)),
  );
}

function validateServicePort(
  port: ServicePort,
  nameRequired: boolean,
  names: Set<string>,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (!port.name) {
    if (nameRequired) errors.push(fieldError.required(at.child('name')));
  } else {
    errors.push(...invalidEach(at.child('name'), port.name, checkDns1123Label(port.name)));
    if (names.has(port.name)) errors.push(fieldError.duplicate(at.child('name'), port.name));
    names.add(port.name);
  }
  errors.push(
    ...invalidEach(at.child('port'), port.port ?? 0, checkPortNumber(port.port ?? 0)),
    ...checkRequiredOneOf(port.protocol, ['SCTP', 'TCP', 'UDP'], at.child('protocol')),
    ...validatePort(port.targetPort, at.child('targetPort')),
  );
  if (port.appProtocol !== undefined) {
    errors.push(...checkQualified(port.appProtocol, at.child('appProtocol')));
  }
  return errors;
}

function validateAffinity(spec: ServiceSpec, at: FieldPath): FieldError[] {
  const errors = checkRequiredOneOf(
    spec.sessionAffinity,
    ['ClientIP', 'None'],
    at.child('sessionAffinity'),
  );
  const config = spec.sessionAffinityConfig;
  const field = at.child('sessionAffinityConfig');
  if (spec.sessionAffinity === 'None' && config) {
    errors.push(fieldError.forbidden(field, 'must not be set when session affinity is None'));
  }
  if (spec.sessionAffinity !== 'ClientIP') return errors;
  const clientAt = field.child('clientIP');
  const seconds = config?.clientIP?.timeoutSeconds;
  const detail = 'when session affinity type is ClientIP';
  if (!config) errors.push(fieldError.required(field, detail));
  else if (!config.clientIP) errors.push(fieldError.required(clientAt, detail));
  else if (seconds === undefined) {
    errors.push(fieldError.required(clientAt.child('timeoutSeconds'), detail));
  } else if (seconds <= 0 || seconds > affinitySecondsMax) {
    errors.push(
      fieldError.invalid(
        clientAt.child('timeoutSeconds'),
        seconds,
        `must be greater than 0 and less than ${affinitySecondsMax}`,
      ),
    );
  }
  return errors;
}

function validateExternalIps(ips: readonly string[], at: FieldPath): FieldError[] {
  return ips.flatMap((ip, index) => {
    const errors = invalidEach(at.index(index), ip, checkIp(ip));
    return errors.length > 0 ? errors : validateReachableIp(ip, at.index(index));
  });
}

function validateNodePorts(spec: ServiceSpec, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.type === 'ClusterIP') {
    for (const [index, port] of ports(spec).entries()) {
      if (!port.nodePort) continue;
      errors.push(
        fieldError.forbidden(
          at.index(index).child('nodePort'),
          "may not be used when `type` is 'ClusterIP'",
        ),
      );
    }
  }
  const taken = new Set<string>();
  for (const [index, port] of ports(spec).entries()) {
    if (!port.nodePort) continue;
    const id = `${port.protocol}/${port.nodePort}`;
    if (taken.has(id)) {
      errors.push(fieldError.duplicate(at.index(index).child('nodePort'), port.nodePort));
    }
    taken.add(id);
  }
  return errors;
}

function validateUniquePorts(spec: ServiceSpec, at: FieldPath): FieldError[] {
  const taken = new Set<string>();
  return ports(spec).flatMap((port, index) => {
    const id = `${port.protocol}/${port.port}`;
    if (taken.has(id)) {
      return [fieldError.duplicate(at.index(index), { protocol: port.protocol, port: port.port })];
    }
    taken.add(id);
    return [];
  });
}

function validateSourceRanges(object: Service, at: FieldPath): FieldError[] {
  const spec = object.spec ?? {};
  const key = dialect().key('load-balancer-source-ranges', 'service.beta');
  const annotation = object.metadata?.annotations?.[key];
  const ranges = spec.loadBalancerSourceRanges ?? [];
  const annotationAt = path('metadata', 'annotations').key(key);
  const onlyBalancer = "may only be used when `type` is 'LoadBalancer'";
  const badList = 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ';
  if (ranges.length > 0) {
    if (spec.type !== 'LoadBalancer') return [fieldError.forbidden(at, onlyBalancer)];
    return ranges.every((range) => isCidr(range.trim()))
      ? []
      : [fieldError.invalid(at, `[${ranges.join(' ')}]`, badList)];
  }
  if (annotation === undefined) return [];
  if (spec.type !== 'LoadBalancer') return [fieldError.forbidden(annotationAt, onlyBalancer)];
  const listed = annotation.trim();
  return listed === '' || listed.split(',').every((range) => isCidr(range.trim()))
    ? []
    : [fieldError.invalid(annotationAt, annotation, badList)];
}

function validateTrafficPolicy(spec: ServiceSpec, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const policy = spec.externalTrafficPolicy ?? '';
  const policyAt = at.child('externalTrafficPolicy');
  const healthPort = spec.healthCheckNodePort ?? 0;
  const healthAt = at.child('healthCheckNodePort');
  if (!['', 'Cluster', 'Local'].includes(policy)) {
    errors.push(
      fieldError.invalid(policyAt, policy, 'ExternalTrafficPolicy must be empty, Cluster or Local'),
    );
  } else if (policy !== '' && !needsNodePort(spec)) {
    errors.push(
      fieldError.invalid(
        policyAt,
        policy,
        'ExternalTrafficPolicy can only be set on NodePort and LoadBalancer service',
      ),
    );
  }
  if (healthPort < 0) {
    errors.push(
      fieldError.invalid(healthAt, healthPort, 'HealthCheckNodePort must be not less than 0'),
    );
  } else if (healthPort > 0 && !needsHealthCheckNodePort(spec)) {
    errors.push(
      fieldError.invalid(
        healthAt,
        healthPort,
        'HealthCheckNodePort can only be set on LoadBalancer service with ExternalTrafficPolicy=Local',
      ),
    );
  }
  if (spec.internalTrafficPolicy !== undefined) {
    errors.push(
      ...checkOneOf(
        spec.internalTrafficPolicy,
        ['Cluster', 'Local'],
        at.child('internalTrafficPolicy'),
      ),
    );
  }
  return errors;
}

export function validateServiceStatus(object: Service): FieldError[] {
  return validateBalancerStatus(object.status?.loadBalancer, path('status', 'loadBalancer'));
}

/** Where traffic comes in, for all kinds that are balanced. */
export function validateBalancerStatus(
  balancer: LoadBalancerStatus | undefined,
  at: FieldPath,
): FieldError[] {
  return (balancer?.ingress ?? []).flatMap(({ ip, hostname }, index) => {
    const errors: FieldError[] = [];
    const ipAt = at.child('ingress').index(index).child('ip');
    const hostAt = at.child('ingress').index(index).child('hostname');
    if (ip && !isIp(ip)) {
      errors.push(fieldError.invalid(ipAt, ip, 'must be a valid IP address'));
    }
    if (hostname) {
      errors.push(...invalidEach(hostAt, hostname, checkDns1123Subdomain(hostname)));
      if (isIp(hostname)) {
        errors.push(fieldError.invalid(hostAt, hostname, 'must be a DNS name, not an IP address'));
      }
    }
    return errors;
  });
}
