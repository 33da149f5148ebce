/** Rules of the spec of a pod or of a pod template, in the order in which errors are reported. */
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  type FieldError,
  type FieldPath,
  fieldError,
  isIp,
  validateLabels,
} from '@orch/apimachinery';
import type { PodDNSConfig, PodSpec } from '@orch/types/core/v1';
import {
  checkOptional,
  checkQualified,
  checkRange,
  checkRequiredOneOf,
  invalidEach,
} from '../shared/rules.js';
import { validateAffinity, validateSpread, validateTolerations } from './affinity-validation.js';
import { validateContainers, validateInitContainers } from './container-validation.js';
import { validateEphemeralContainers } from './ephemeral-container-validation.js';
import { validateResourceRequirements } from './resource-rules.js';
import { validatePodSecurityContext } from './security-validation.js';
import { validateVolumes } from './volume-validation.js';

const int32Max = 2 ** 31 - 1;
const nameserverCountMax = 3;
const searchCountMax = 6;
const searchLengthMax = 256;

export interface PodSpecRules {
  /** Empty for templates. */
  readonly podName: string;
}

export function validatePodSpec(spec: PodSpec, rules: PodSpecRules, at: FieldPath): FieldError[] {
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
  const validVolumes = new Map(
    [...volumes].filter(([, volume]) => validateVolumes([volume], rules.podName, at).length === 0),
  );
  const containerRules = { volumes: validVolumes };
  return [
    ...validateVolumes(spec.volumes, rules.podName, at.child('volumes')),
    ...validateContainers(spec, containerRules, at),
    ...validateInitContainers(spec, containerRules, at),
    ...validateEphemeralContainers(spec, containerRules, at),
    ...checkRequiredOneOf(
      spec.restartPolicy,
      ['Always', 'OnFailure', 'Never'],
      at.child('restartPolicy'),
    ),
    ...checkRequiredOneOf(
      spec.dnsPolicy,
      ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
      at.child('dnsPolicy'),
    ),
    ...validateLabels(spec.nodeSelector, at.child('nodeSelector')),
    ...validatePodSecurityContext(spec.securityContext, spec, at.child('securityContext'), at),
    ...validateAffinity(spec.affinity, at.child('affinity')),
    ...validateDns(spec.dnsConfig, spec.dnsPolicy, at.child('dnsConfig')),
    ...(spec.readinessGates ?? []).flatMap((gate, index) =>
      checkQualified(
        gate.conditionType,
        at.child('readinessGates').index(index).child('conditionType'),
      ),
    ),
    ...validateSpread(spec.topologySpreadConstraints, at.child('topologySpreadConstraints')),
    ...checkOptional(
      spec.serviceAccountName,
      at.child('serviceAccountName'),
      checkDns1123Subdomain,
    ),
    ...checkOptional(spec.nodeName, at.child('nodeName'), checkDns1123Subdomain),
    ...checkRange(spec.activeDeadlineSeconds, 1, int32Max, at.child('activeDeadlineSeconds')),
    ...checkOptional(spec.hostname, at.child('hostname'), checkDns1123Label),
    ...checkOptional(spec.subdomain, at.child('subdomain'), checkDns1123Label),
    ...validateTolerations(spec.tolerations, at.child('tolerations')),
    ...validateHostAliases(spec, at.child('hostAliases')),
    ...checkOptional(spec.priorityClassName, at.child('priorityClassName'), checkDns1123Subdomain),
    ...checkOptional(spec.runtimeClassName, at.child('runtimeClassName'), checkDns1123Subdomain),
    ...(spec.preemptionPolicy !== undefined
      ? checkRequiredOneOf(
          spec.preemptionPolicy,
          ['PreemptLowerPriority', 'Never'],
          at.child('preemptionPolicy'),
        )
      : []),
    ...(spec.overhead
      ? validateResourceRequirements({ limits: spec.overhead }, at.child('overhead'))
      : []),
  ];
}

function validateHostAliases(spec: PodSpec, at: FieldPath): FieldError[] {
  return (spec.hostAliases ?? []).flatMap(({ ip, hostnames }) => [
    ...(isIp(ip ?? '')
      ? []
      : [fieldError.invalid(at.child('ip'), ip ?? '', 'must be valid IP address')]),
    ...(hostnames ?? []).flatMap((name) =>
      invalidEach(at.child('hostnames'), name, checkDns1123Subdomain(name)),
    ),
  ]);
}

function validateDns(
  config: PodDNSConfig | undefined,
  policy: string | undefined,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (policy === 'None') {
    if (!config) {
      return [fieldError.required(at, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    }
    if (!config.nameservers?.length) {
      return [
        fieldError.required(
          at.child('nameservers'),
          'must provide at least one DNS nameserver when `dnsPolicy` is None',
        ),
      ];
    }
  }
  if (!config) return errors;
  errors.push(...validateNameservers(config.nameservers ?? [], at.child('nameservers')));
  errors.push(...validateSearches(config.searches ?? [], at.child('searches')));
  for (const [index, option] of (config.options ?? []).entries()) {
    if (!option.name) {
      errors.push(fieldError.required(at.child('options').index(index), 'must not be empty'));
    }
  }
  return errors;
}

function validateNameservers(nameservers: readonly string[], at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (nameservers.length > nameserverCountMax) {
    errors.push(
      fieldError.invalid(
        at,
        nameservers,
        `must not have more than ${nameserverCountMax} nameservers`,
      ),
    );
  }
  for (const [index, nameserver] of nameservers.entries()) {
    if (!isIp(nameserver)) {
      errors.push(fieldError.invalid(at.index(index), nameserver, 'must be valid IP address'));
    }
  }
  return errors;
}

function validateSearches(searches: readonly string[], at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (searches.length > searchCountMax) {
    errors.push(
      fieldError.invalid(at, searches, `must not have more than ${searchCountMax} search paths`),
    );
  }
  if (searches.join(' ').length > searchLengthMax) {
    errors.push(
      fieldError.invalid(
        at,
        searches,
        `must not have more than ${searchLengthMax} characters (including spaces) in the search list`,
      ),
    );
  }
  for (const [index, search] of searches.entries()) {
    const name = search.endsWith('.') ? search.slice(0, -1) : search;
    errors.push(...invalidEach(at.index(index), name, checkDns1123Subdomain(name)));
  }
  return errors;
}
