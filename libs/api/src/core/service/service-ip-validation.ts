/** Validates addresses and families of a service, also on update. */
import {
  checkIp,
  type FieldError,
  type FieldPath,
  fieldError,
  path,
  stringList,
} from '@orch/apimachinery';
import type { Service, ServiceSpec } from '@orch/types/core/v1';
import { checkOneOf, invalidEach } from '../../shared/rules.js';
import { familyOf, headless, isHeadless } from './service-types.js';

const addressCountMax = 2;

export function validateClusterIps(spec: ServiceSpec, fieldPath: FieldPath): FieldError[] {
  // Other rules forbid all of these fields for this type.
  if (spec.type === 'ExternalName') return [];
  const ips = spec.clusterIPs ?? [];
  const field = fieldPath.child('clusterIPs');
  const errors = [
    ...validateStep(spec, field),
    ...validateFamilies(spec, fieldPath),
    ...validatePolicy(spec, fieldPath.child('ipFamilyPolicy')),
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

/** The single address must equal the first of the list. */
function validateStep(spec: ServiceSpec, fieldPath: FieldPath): FieldError[] {
  const ips = spec.clusterIPs ?? [];
  if (!spec.clusterIP) {
    return ips.length > 0
      ? [
          fieldError.invalid(
            fieldPath,
            stringList(ips),
            'must be empty when `clusterIP` is not specified',
          ),
        ]
      : [];
  }
  if (ips.length === 0) return [fieldError.required(fieldPath)];
  return spec.clusterIP === ips[0]
    ? []
    : [fieldError.invalid(fieldPath, stringList(ips), 'element [0] must match clusterIP')];
}

function validateFamilies(spec: ServiceSpec, fieldPath: FieldPath): FieldError[] {
  const seen = new Set<string>();
  return (spec.ipFamilies ?? []).flatMap((family, index) => {
    const field = fieldPath.child('ipFamilies').index(index);
    const errors = checkOneOf(family, ['IPv4', 'IPv6'], field);
    if (seen.has(family)) errors.push(fieldError.duplicate(field, family));
    seen.add(family);
    return errors;
  });
}

function validatePolicy(spec: ServiceSpec, fieldPath: FieldPath): FieldError[] {
  return spec.ipFamilyPolicy === undefined
    ? []
    : checkOneOf(
        spec.ipFamilyPolicy,
        ['PreferDualStack', 'RequireDualStack', 'SingleStack'],
        fieldPath,
      );
}

function validateIpFamilies(
  spec: ServiceSpec,
  ips: readonly string[],
  fieldPath: FieldPath,
): FieldError[] {
  if (isHeadless(spec)) return [];
  const errors: FieldError[] = [];
  const [first, second] = ips;
  if (first !== undefined && second !== undefined && familyOf(first) === familyOf(second)) {
    errors.push(
      fieldError.invalid(
        fieldPath,
        stringList(ips),
        'may specify no more than one IP for each IP family',
      ),
    );
  }
  for (const [index, ip] of ips.entries()) {
    const family = spec.ipFamilies?.[index];
    if ((family !== 'IPv4' && family !== 'IPv6') || family === familyOf(ip)) continue;
    errors.push(
      fieldError.invalid(
        fieldPath.index(index),
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
  const fieldPath = path('spec');
  const errors: FieldError[] = [];
  const isExternal = spec.type === 'ExternalName' || before.type === 'ExternalName';
  if (!isExternal && !(isHeadless(spec) && isHeadless(before))) {
    errors.push(...validateIpsUpdate(spec, before, fieldPath));
  }
  if (!isExternal && !isHeadless(spec) && !isHeadless(before)) {
    errors.push(...validateFamiliesUpdate(spec, before, fieldPath));
  }
  return errors;
}

const changed = 'may not change once set';

/** Addresses are immutable; a second one may be added, and released with the policy. */
function validateIpsUpdate(
  { clusterIPs: ips = [], ipFamilyPolicy }: ServiceSpec,
  { clusterIPs: before = [] }: ServiceSpec,
  fieldPath: FieldPath,
): FieldError[] {
  const field = fieldPath.child('clusterIPs');
  const refuse = (index: number, detail: string) =>
    fieldError.invalid(field.index(index), stringList(ips), detail);
  if (ips.length === before.length) {
    return ips.flatMap((ip, index) => (ip === before[index] ? [] : [refuse(index, changed)]));
  }
  if (ips.length === 0) return [refuse(0, 'primary clusterIP can not be unset')];
  const errors = before.length > 0 && ips[0] !== before[0] ? [refuse(0, changed)] : [];
  if (ips.length > before.length) return errors;
  return [...errors, ...validateReleased(ips, ipFamilyPolicy, 'clusterIP', fieldPath)];
}

/** As for addresses; errors name the first family, and some show the addresses. */
function validateFamiliesUpdate(
  { clusterIPs: ips = [], ipFamilies: families = [], ipFamilyPolicy }: ServiceSpec,
  before: ServiceSpec,
  fieldPath: FieldPath,
): FieldError[] {
  const { ipFamilies: familiesBefore = [], clusterIPs: ipsBefore = [] } = before;
  const field = fieldPath.child('ipFamilies').index(0);
  const refuse = (value: readonly string[], detail: string) =>
    fieldError.invalid(field, stringList(value), detail);
  if (families.length === familiesBefore.length) {
    return families.flatMap((family, index) =>
      family === familiesBefore[index] ? [] : [refuse(families, changed)],
    );
  }
  const isChanged = families.length > 0 && families[0] !== familiesBefore[0];
  if (families.length > familiesBefore.length) {
    return isChanged && ipsBefore.length > 0 && ips.length > 0 ? [refuse(ips, changed)] : [];
  }
  return [
    ...(ips.length === 0 ? [refuse(families, 'primary ipFamily can not be unset')] : []),
    ...(isChanged ? [refuse(ips, changed)] : []),
    ...validateReleased(families, ipFamilyPolicy, 'ipFamily', fieldPath),
  ];
}

/** Releasing the second address or family requires the single-stack policy. */
function validateReleased(
  left: readonly string[],
  policy: string | undefined,
  what: string,
  fieldPath: FieldPath,
): FieldError[] {
  if (left.length !== 1 || policy === 'SingleStack') return [];
  const detail = `must be set to \`SingleStack\` when releasing the secondary ${what}`;
  return [fieldError.invalid(fieldPath.child('ipFamilyPolicy'), policy, detail)];
}
