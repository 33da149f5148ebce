/** Validates the spec of a pod or a pod template, in the order in which errors are reported. */
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
} from '../../shared/rules.js';
import { validateContainers, validateInitContainers } from '../container/container-validation.js';
import { validateEphemeralContainers } from '../container/ephemeral-container-validation.js';
import { validatePodSecurityContext } from '../container/security-validation.js';
import {
  validateAffinity,
  validateSpread,
  validateTolerations,
} from '../placement/affinity-validation.js';
import { validateResourceRequirements } from '../resources/resource-rules.js';
import { validateVolumes } from '../volume/volume-validation.js';

const int32Max = 2 ** 31 - 1;
const nameserverCountMax = 3;
const searchCountMax = 6;
const searchLengthMax = 256;

export interface PodSpecRules {
  /** Empty for templates. */
  readonly podName: string;
}

export function validatePodSpec(
  spec: PodSpec,
  rules: PodSpecRules,
  fieldPath: FieldPath,
): FieldError[] {
  const volumeErrors = validateVolumes(spec.volumes, rules.podName, fieldPath.child('volumes'));
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
  if (volumeErrors.length > 0) {
    for (const [name, volume] of volumes) {
      const errors = validateVolumes([volume], rules.podName, fieldPath);
      if (errors.length > 0) volumes.delete(name);
    }
  }
  const containerRules = { volumes };
  return [
    ...volumeErrors,
    ...validateContainers(spec, containerRules, fieldPath),
    ...validateInitContainers(spec, containerRules, fieldPath),
    ...validateEphemeralContainers(spec, containerRules, fieldPath),
    ...checkRequiredOneOf(
      spec.restartPolicy,
      ['Always', 'OnFailure', 'Never'],
      fieldPath.child('restartPolicy'),
    ),
    ...checkRequiredOneOf(
      spec.dnsPolicy,
      ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
      fieldPath.child('dnsPolicy'),
    ),
    ...validateLabels(spec.nodeSelector, fieldPath.child('nodeSelector')),
    ...validatePodSecurityContext(
      spec.securityContext,
      spec,
      fieldPath.child('securityContext'),
      fieldPath,
    ),
    ...validateAffinity(spec.affinity, fieldPath.child('affinity')),
    ...validateDns(spec.dnsConfig, spec.dnsPolicy, fieldPath.child('dnsConfig')),
    ...(spec.readinessGates ?? []).flatMap((gate, index) =>
      checkQualified(
        gate.conditionType,
        fieldPath.child('readinessGates').index(index).child('conditionType'),
      ),
    ),
    ...validateSpread(spec.topologySpreadConstraints, fieldPath.child('topologySpreadConstraints')),
    ...validateRuntime(spec, fieldPath),
  ];
}

/** Identity, deadline, host names and classes of a pod. */
function validateRuntime(spec: PodSpec, fieldPath: FieldPath): FieldError[] {
  return [
    ...checkOptional(
      spec.serviceAccountName,
      fieldPath.child('serviceAccountName'),
      checkDns1123Subdomain,
    ),
    ...checkOptional(spec.nodeName, fieldPath.child('nodeName'), checkDns1123Subdomain),
    ...checkRange(
      spec.activeDeadlineSeconds,
      1,
      int32Max,
      fieldPath.child('activeDeadlineSeconds'),
    ),
    ...checkOptional(spec.hostname, fieldPath.child('hostname'), checkDns1123Label),
    ...checkOptional(spec.subdomain, fieldPath.child('subdomain'), checkDns1123Label),
    ...validateTolerations(spec.tolerations, fieldPath.child('tolerations')),
    ...validateHostAliases(spec, fieldPath.child('hostAliases')),
    ...checkOptional(
      spec.priorityClassName,
      fieldPath.child('priorityClassName'),
      checkDns1123Subdomain,
    ),
    ...(spec.runtimeClassName !== undefined
      ? invalidEach(
          fieldPath.child('runtimeClassName'),
          spec.runtimeClassName,
          checkDns1123Subdomain(spec.runtimeClassName),
        )
      : []),
    ...(spec.preemptionPolicy !== undefined
      ? checkRequiredOneOf(
          spec.preemptionPolicy,
          ['PreemptLowerPriority', 'Never'],
          fieldPath.child('preemptionPolicy'),
        )
      : []),
    ...(spec.overhead
      ? validateResourceRequirements({ limits: spec.overhead }, fieldPath.child('overhead'))
      : []),
  ];
}

function validateHostAliases(spec: PodSpec, fieldPath: FieldPath): FieldError[] {
  return (spec.hostAliases ?? []).flatMap(({ ip, hostnames }) => [
    ...(isIp(ip ?? '')
      ? []
      : [fieldError.invalid(fieldPath.child('ip'), ip ?? '', 'must be valid IP address')]),
    ...(hostnames ?? []).flatMap((name) =>
      invalidEach(fieldPath.child('hostnames'), name, checkDns1123Subdomain(name)),
    ),
  ]);
}

function validateDns(
  config: PodDNSConfig | undefined,
  policy: string | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (policy === 'None') {
    if (!config) {
      return [fieldError.required(fieldPath, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    }
    if (!config.nameservers?.length) {
      return [
        fieldError.required(
          fieldPath.child('nameservers'),
          'must provide at least one DNS nameserver when `dnsPolicy` is None',
        ),
      ];
    }
  }
  if (!config) return errors;
  errors.push(...validateNameservers(config.nameservers ?? [], fieldPath.child('nameservers')));
  errors.push(...validateSearches(config.searches ?? [], fieldPath.child('searches')));
  for (const [index, option] of (config.options ?? []).entries()) {
    if (!option.name) {
      errors.push(
        fieldError.required(fieldPath.child('options').index(index), 'must not be empty'),
      );
    }
  }
  return errors;
}

function validateNameservers(nameservers: readonly string[], fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (nameservers.length > nameserverCountMax) {
    errors.push(
      fieldError.invalid(
        fieldPath,
        nameservers,
        `must not have more than ${nameserverCountMax} nameservers`,
      ),
    );
  }
  for (const [index, nameserver] of nameservers.entries()) {
    if (!isIp(nameserver)) {
      errors.push(
        fieldError.invalid(fieldPath.index(index), nameserver, 'must be valid IP address'),
      );
    }
  }
  return errors;
}

function validateSearches(searches: readonly string[], fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (searches.length > searchCountMax) {
    errors.push(
      fieldError.invalid(
        fieldPath,
        searches,
        `must not have more than ${searchCountMax} search paths`,
      ),
    );
  }
  if (searches.join(' ').length > searchLengthMax) {
    errors.push(
      fieldError.invalid(
        fieldPath,
        searches,
        `must not have more than ${searchLengthMax} characters (including spaces) in the search list`,
      ),
    );
  }
  for (const [index, search] of searches.entries()) {
    const name = search.endsWith('.') ? search.slice(0, -1) : search;
    errors.push(...invalidEach(fieldPath.index(index), name, checkDns1123Subdomain(name)));
  }
  return errors;
}
