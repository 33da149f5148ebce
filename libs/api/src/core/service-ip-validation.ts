/** Rules of a service's addresses and families, alone and between old and new. */
import {
  checkIp,
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  path,
  stringList,
} from '@orch/apimachinery';
import type { Service, ServiceSpec } from '@orch/types/core/v1';
import { checkOneOf, invalidEach } from '../shared/rules.js';
import { familyOf, headless, isHeadless, needsHealthCheckNodePort } from './service-types.js';

const addressCountMax = 2;

export function validateClusterIps(spec: ServiceSpec, at: FieldPath): FieldError[] {
  // All of these are refused as a whole there.
  if (spec.type === 'ExternalName') return [];
  const ips = spec.clusterIPs ?? [];
  const field = at.child('clusterIPs');
  const errors = [
    ...validateStep(spec, field),
    ...validateFamilies(spec, at),
    ...validatePolicy(spec, at.child('ipFamilyPolicy')),
  ];
  const invalidIps = ips.flatMap((ip, index) => {
    if (ip !== headless) return invalidEach(field.index(index), ip, checkIp(ip));
    return ips.length > 1
      ? [fieldError.invalid(field, stringList(ips), "'None' must be the first and only value")]
      : [];
  });
  errors.push(...invalidIps);
  if (ips.length > addressCountMax) {
    errors.push(
      fieldError.invalid(field, stringList(ips), `may only hold up to ${addressCountMax} values`),
    );
  }
  if (invalidIps.length > 0) return errors;
  return [...errors, ...validateIpFamilies(spec, ips, field)];
}

/** The single address and the list agree. */
function validateStep(spec: ServiceSpec, at: FieldPath): FieldError[] {
  const ips = spec.clusterIPs ?? [];
  if (!spec.clusterIP) {
    return ips.length > 0
      ? [fieldError.invalid(at, stringList(ips), 'must be empty when `clusterIP` is not specified')]
      : [];
  }
  if (ips.length === 0) return [fieldError.required(at)];
  return spec.clusterIP === ips[0]
    ? []
    : [fieldError.invalid(at, stringList(ips), 'element [0] must match clusterIP')];
}

function validateFamilies(spec: ServiceSpec, at: FieldPath): FieldError[] {
  const seen = new Set<string>();
  return (spec.ipFamilies ?? []).flatMap((family, index) => {
    const field = at.child('ipFamilies').index(index);
    const errors = checkOneOf(family, ['IPv4', 'IPv6'], field);
    if (seen.has(family)) errors.push(fieldError.duplicate(field, family));
    seen.add(family);
    return errors;
  });
}

function validatePolicy(spec: ServiceSpec, at: FieldPath): FieldError[] {
  return spec.ipFamilyPolicy === undefined
    ? []
    : checkOneOf(spec.ipFamilyPolicy, ['PreferDualStack', 'RequireDualStack', 'SingleStack'], at);
}

function validateIpFamilies(
  spec: ServiceSpec,
  ips: readonly string[],
  at: FieldPath,
): FieldError[] {
  if (isHeadless(spec)) return [];
  const errors: FieldError[] = [];
  const [first, second] = ips;
  if (first !== undefined && second !== undefined && familyOf(first) === familyOf(second)) {
    errors.push(
      fieldError.invalid(at, stringList(ips), 'may specify no more than one IP for each IP family'),
    );
  }
  for (const [index, ip] of ips.entries()) {
    const family = spec.ipFamilies?.[index];
    if (family === undefined || family === familyOf(ip)) continue;
    errors.push(
      fieldError.invalid(
        at.index(index),
        ip,
        `expected an ${family} value as indicated by \`ipFamilies[${index}]\``,
      ),
    );
  }
  return errors;
}

export function validateServiceUpdate(object: Service, old: Service): FieldError[] {
  const spec = object.spec ?? {};
  const before = old.spec ?? {};
  const at = path('spec');
  const errors: FieldError[] = [];
  const isExternal = spec.type === 'ExternalName' || before.type === 'ExternalName';
  if (!isExternal && !(isHeadless(spec) && isHeadless(before))) {
    errors.push(...validateKept(spec, before, 'clusterIPs', 'primary clusterIP', at));
    errors.push(...validateReleased(spec, before, at));
  }
  if (!isExternal && !isHeadless(spec) && !isHeadless(before)) {
    errors.push(...validateKept(spec, before, 'ipFamilies', 'primary ipFamily', at));
  }
  if (
    needsHealthCheckNodePort(spec) &&
    needsHealthCheckNodePort(before) &&
    (spec.healthCheckNodePort ?? 0) !== (before.healthCheckNodePort ?? 0)
  ) {
    errors.push(immutable(at.child('healthCheckNodePort'), spec.healthCheckNodePort ?? 0));
  }
  return errors;
}

/** The first address and the first family stay. */
function validateKept(
  spec: ServiceSpec,
  before: ServiceSpec,
  field: 'clusterIPs' | 'ipFamilies',
  what: string,
  at: FieldPath,
): FieldError[] {
  const [kept] = before[field] ?? [];
  const [value] = spec[field] ?? [];
  if (kept === undefined || value === kept) return [];
  const detail = value === undefined ? `${what} can not be unset` : 'may not change once set';
  return [fieldError.invalid(at.child(field).index(0), stringList(spec[field] ?? []), detail)];
}

/** Giving up the second address needs the policy that goes with one. */
function validateReleased(spec: ServiceSpec, before: ServiceSpec, at: FieldPath): FieldError[] {
  const second = before.clusterIPs?.[1];
  const value = spec.clusterIPs?.[1];
  if (second === undefined || value === second) return [];
  if (value !== undefined) {
    return [
      fieldError.invalid(
        at.child('clusterIPs').index(1),
        stringList(spec.clusterIPs ?? []),
        'may not change once set',
      ),
    ];
  }
  return spec.ipFamilyPolicy === 'SingleStack'
    ? []
    : [
        fieldError.invalid(
          at.child('ipFamilyPolicy'),
          spec.ipFamilyPolicy,
          'must be set to `SingleStack` when releasing the secondary clusterIP',
        ),
      ];
}
