/** Validates services, in the order in which errors are reported. */
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
} from '../../shared/rules.js';
import { validateReachableIp } from '../common/ip-rules.js';
import { validatePort } from '../common/port-rules.js';
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
const topologyKeyCountMax = 16;

export function validateService(object: Service): FieldError[] {
  const spec = object.spec ?? {};
  const fieldPath = path('spec');
  return [
    ...validateByType(spec, fieldPath),
    ...validatePorts(spec, fieldPath.child('ports')),
    ...validateLabels(spec.selector, fieldPath.child('selector')),
    ...validateAffinity(spec, fieldPath),
    ...validateClusterIps(spec, fieldPath),
    ...validateExternalIps(spec.externalIPs ?? [], fieldPath.child('externalIPs')),
    ...checkRequiredOneOf(spec.type, serviceTypes, fieldPath.child('type')),
    ...validateNodePorts(spec, fieldPath.child('ports')),
    ...validateUniquePorts(spec, fieldPath.child('ports')),
    ...validateSourceRanges(object, fieldPath.child('LoadBalancerSourceRanges')),
    ...validateTrafficPolicy(spec, fieldPath),
    ...validateBalancerFields(spec, fieldPath),
    ...validateTopologyKeys(spec, fieldPath.child('topologyKeys')),
  ];
}

function validateTopologyKeys(
  { topologyKeys = [], externalTrafficPolicy }: ServiceSpec,
  fieldPath: FieldPath,
): FieldError[] {
  if (topologyKeys.length === 0) return [];
  const errors: FieldError[] = [];
  if (externalTrafficPolicy === 'Local') {
    const detail = 'may not be specified when `externalTrafficPolicy=Local`';
    errors.push(fieldError.forbidden(fieldPath, detail));
  }
  if (topologyKeys.length > topologyKeyCountMax) {
    return [...errors, fieldError.tooMany(fieldPath, topologyKeys.length, topologyKeyCountMax)];
  }
  for (const [index, key] of topologyKeys.entries()) {
    const keyAt = fieldPath.index(index);
    if (topologyKeys.indexOf(key) < index) errors.push(fieldError.duplicate(keyAt, key));
    if (key !== '*') errors.push(...checkQualified(key, keyAt));
    else if (index < topologyKeys.length - 1) {
      errors.push(fieldError.invalid(keyAt, key, '`"*"` must be the last value specified'));
    }
  }
  return errors;
}

function validateBalancerFields(spec: ServiceSpec, fieldPath: FieldPath): FieldError[] {
  if (spec.type === 'LoadBalancer') {
    const { loadBalancerClass } = spec;
    if (loadBalancerClass === undefined) return [];
    return checkQualified(loadBalancerClass, fieldPath.child('loadBalancerClass'));
  }
  return (['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const).flatMap((field) =>
    spec[field] === undefined
      ? []
      : [
          fieldError.forbidden(
            fieldPath.child(field),
            "may only be used when `type` is 'LoadBalancer'",
          ),
        ],
  );
}

/** The load balancer class is immutable. */
export function validateBalancerClassUpdate(object: Service, old: Service): FieldError[] {
  const [now, before] = [object.spec ?? {}, old.spec ?? {}];
  if (now.type !== 'LoadBalancer' || before.type !== 'LoadBalancer') return [];
  if (now.loadBalancerClass === before.loadBalancerClass) return [];
  const fieldPath = path('spec', 'loadBalancerClass');
  return [fieldError.invalid(fieldPath, now.loadBalancerClass, 'may not change once set')];
}

/** A load balancer has one protocol; stored services with several may keep them. */
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

function validateByType(spec: ServiceSpec, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (ports(spec).length === 0 && !isHeadless(spec) && spec.type !== 'ExternalName') {
    errors.push(fieldError.required(fieldPath.child('ports')));
  }
  switch (spec.type) {
    case 'LoadBalancer':
      for (const [index, port] of ports(spec).entries()) {
        if (port.port !== nodeAgentPort) continue;
        errors.push(
          fieldError.invalid(
            fieldPath.child('ports').index(index),
            port.port,
            `may not expose port ${nodeAgentPort} externally since it is used by kubelet`,
          ),
        );
      }
      return [...errors, ...refuseHeadless(spec, fieldPath)];
    case 'NodePort':
      return [...errors, ...refuseHeadless(spec, fieldPath)];
    case 'ExternalName':
      return [...errors, ...validateExternalName(spec, fieldPath)];
    default:
      return errors;
  }
}

function refuseHeadless(spec: ServiceSpec, fieldPath: FieldPath): FieldError[] {
  return isHeadless(spec)
    ? [
        fieldError.invalid(
          fieldPath.child('clusterIPs').index(0),
          headless,
          `may not be set to 'None' for ${spec.type} services`,
        ),
      ]
    : [];
}

function validateExternalName(spec: ServiceSpec, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const) {
    if (!spec[field]?.length) continue;
    errors.push(
      fieldError.forbidden(fieldPath.child(field), 'may not be set for ExternalName services'),
    );
  }
  const name = spec.externalName?.replace(/\.$/, '');
  return [
    ...errors,
    ...checkRequired(name, fieldPath.child('externalName'), checkDns1123Subdomain),
  ];
}

function validatePorts(spec: ServiceSpec, fieldPath: FieldPath): FieldError[] {
  const names = new Set<string>();
  const nameRequired = ports(spec).length > 1;
  return ports(spec).flatMap((port, index) =>
    validateServicePort(port, nameRequired, names, fieldPath.index(index)),
  );
}

function validateServicePort(
  port: ServicePort,
  nameRequired: boolean,
  names: Set<string>,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (!port.name) {
    if (nameRequired) errors.push(fieldError.required(fieldPath.child('name')));
  } else {
    errors.push(...invalidEach(fieldPath.child('name'), port.name, checkDns1123Label(port.name)));
    if (names.has(port.name)) errors.push(fieldError.duplicate(fieldPath.child('name'), port.name));
    names.add(port.name);
  }
  errors.push(
    ...invalidEach(fieldPath.child('port'), port.port ?? 0, checkPortNumber(port.port ?? 0)),
    ...checkRequiredOneOf(port.protocol, ['SCTP', 'TCP', 'UDP'], fieldPath.child('protocol')),
    ...validatePort(port.targetPort, fieldPath.child('targetPort')),
  );
  if (port.appProtocol !== undefined) {
    errors.push(...checkQualified(port.appProtocol, fieldPath.child('appProtocol')));
  }
  return errors;
}

function validateAffinity(spec: ServiceSpec, fieldPath: FieldPath): FieldError[] {
  const errors = checkRequiredOneOf(
    spec.sessionAffinity,
    ['ClientIP', 'None'],
    fieldPath.child('sessionAffinity'),
  );
  const config = spec.sessionAffinityConfig;
  const field = fieldPath.child('sessionAffinityConfig');
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

function validateExternalIps(ips: readonly string[], fieldPath: FieldPath): FieldError[] {
  return ips.flatMap((ip, index) => {
    const errors = invalidEach(fieldPath.index(index), ip, checkIp(ip));
    return errors.length > 0 ? errors : validateReachableIp(ip, fieldPath.index(index));
  });
}

function validateNodePorts(spec: ServiceSpec, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.type === 'ClusterIP') {
    for (const [index, port] of ports(spec).entries()) {
      if (!port.nodePort) continue;
      errors.push(
        fieldError.forbidden(
          fieldPath.index(index).child('nodePort'),
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
      errors.push(fieldError.duplicate(fieldPath.index(index).child('nodePort'), port.nodePort));
    }
    taken.add(id);
  }
  return errors;
}

function validateUniquePorts(spec: ServiceSpec, fieldPath: FieldPath): FieldError[] {
  const taken = new Set<string>();
  return ports(spec).flatMap((port, index) => {
    const id = `${port.protocol}/${port.port}`;
    if (taken.has(id)) {
      return [
        fieldError.duplicate(fieldPath.index(index), { protocol: port.protocol, port: port.port }),
      ];
    }
    taken.add(id);
    return [];
  });
}

function validateSourceRanges(object: Service, fieldPath: FieldPath): FieldError[] {
  const spec = object.spec ?? {};
  const key = dialect().key('load-balancer-source-ranges', 'service.beta');
  const annotation = object.metadata?.annotations?.[key];
  const ranges = spec.loadBalancerSourceRanges ?? [];
  const annotationAt = path('metadata', 'annotations').key(key);
  const onlyBalancer = "may only be used when `type` is 'LoadBalancer'";
  const badList = 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ';
  if (ranges.length > 0) {
    return [
      ...(spec.type === 'LoadBalancer' ? [] : [fieldError.forbidden(fieldPath, onlyBalancer)]),
      ...(ranges.every((range) => isCidr(range.trim()))
        ? []
        : [fieldError.invalid(fieldPath, `[${ranges.join(' ')}]`, badList)]),
    ];
  }
  if (annotation === undefined) return [];
  const listed = annotation.trim();
  return [
    ...(spec.type === 'LoadBalancer' ? [] : [fieldError.forbidden(annotationAt, onlyBalancer)]),
    ...(listed === '' || listed.split(',').every((range) => isCidr(range.trim()))
      ? []
      : [fieldError.invalid(annotationAt, annotation, badList)]),
  ];
}

/** The traffic fields fit the type. Upstream checks them last, after the allocation. */
export function validateTrafficByType(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const { externalTrafficPolicy: policy = '', healthCheckNodePort: healthPort = 0 } = spec;
  if (policy !== '' && !needsNodePort(spec)) {
    errors.push(
      fieldError.invalid(
        path('spec', 'externalTrafficPolicy'),
        policy,
        'ExternalTrafficPolicy can only be set on NodePort and LoadBalancer service',
      ),
    );
  }
  if (healthPort !== 0 && !needsHealthCheckNodePort(spec)) {
    errors.push(
      fieldError.invalid(
        path('spec', 'healthCheckNodePort'),
        healthPort,
        'HealthCheckNodePort can only be set on LoadBalancer service with ExternalTrafficPolicy=Local',
      ),
    );
  }
  return errors;
}

function validateTrafficPolicy(spec: ServiceSpec, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const policy = spec.externalTrafficPolicy ?? '';
  const policyAt = fieldPath.child('externalTrafficPolicy');
  const healthPort = spec.healthCheckNodePort ?? 0;
  const healthAt = fieldPath.child('healthCheckNodePort');
  if (!['', 'Cluster', 'Local'].includes(policy)) {
    errors.push(
      fieldError.invalid(policyAt, policy, 'ExternalTrafficPolicy must be empty, Cluster or Local'),
    );
  }
  if (healthPort < 0) {
    errors.push(
      fieldError.invalid(healthAt, healthPort, 'HealthCheckNodePort must be not less than 0'),
    );
  }
  if (spec.internalTrafficPolicy !== undefined) {
    errors.push(
      ...checkOneOf(
        spec.internalTrafficPolicy,
        ['Cluster', 'Local'],
        fieldPath.child('internalTrafficPolicy'),
      ),
    );
  }
  return errors;
}

export function validateServiceStatus(object: Service): FieldError[] {
  return validateBalancerStatus(object.status?.loadBalancer, path('status', 'loadBalancer'));
}

/** Validates the load balancer status of every kind that has one. */
export function validateBalancerStatus(
  balancer: LoadBalancerStatus | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  return (balancer?.ingress ?? []).flatMap(({ ip, hostname }, index) => {
    const errors: FieldError[] = [];
    const ipAt = fieldPath.child('ingress').index(index).child('ip');
    const hostAt = fieldPath.child('ingress').index(index).child('hostname');
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
