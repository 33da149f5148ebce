/** What of a pod may change once it exists, and what of its status. */
import { isIPv4 } from 'node:net';
import {
  checkDns1123Subdomain,
  deepCopy,
  type FieldError,
  type FieldPath,
  fieldError,
  isIp,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { ContainerStatus, Pod, PodSpec, Toleration } from '@orch/types/core/v1';
import { changedFields, checkOptional, checkQualified, checkRange } from '../shared/rules.js';
import { validateTolerations } from './affinity-validation.js';
import { validateImageSpaces } from './container-validation.js';
import { appArmorPrefix, mirrorAnnotation } from './pod-annotations.js';

const int32Max = 2 ** 31 - 1;
const changeable =
  'pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)';

export function validatePodUpdate(object: Pod, old: Pod): FieldError[] {
  const spec = object.spec ?? {};
  const oldSpec = old.spec ?? {};
  const at = path('spec');
  const errors = validateFixedAnnotations(object, old);
  const containers = validateContainers(spec, oldSpec, at);
  errors.push(...containers.errors);
  if (containers.stop) return errors;
  const deadline = validateDeadline(spec, oldSpec, at.child('activeDeadlineSeconds'));
  errors.push(...deadline);
  if (deadline.length > 0 && spec.activeDeadlineSeconds !== undefined) return errors;
  errors.push(...validateTolerationUpdate(spec, oldSpec, at.child('tolerations')));
  if (!semanticallyEqual(fixedPart(spec, oldSpec), oldSpec)) {
    errors.push(
      fieldError.forbidden(
        at,
        `${changeable}\n${changedFields(fixedPart(spec, oldSpec), oldSpec)}`,
      ),
    );
  }
  return errors;
}

function validateFixedAnnotations(object: Pod, old: Pod): FieldError[] {
  const errors: FieldError[] = [];
  const annotations = object.metadata?.annotations ?? {};
  const before = old.metadata?.annotations ?? {};
  const at = path('metadata', 'annotations');
  const keys = new Set([...Object.keys(before), ...Object.keys(annotations)]);
  for (const key of keys) {
    const isMirror = key === mirrorAnnotation();
    if (!isMirror && !key.startsWith(appArmorPrefix())) continue;
    if (annotations[key] === before[key]) continue;
    const detail = isMirror
      ? 'may not add, remove or update mirror pod annotation'
      : 'may not add, remove or update AppArmor annotations';
    errors.push(fieldError.forbidden(at.key(key), detail));
  }
  return errors;
}

/** `stop`: the rest is not looked at, because it would compare what does not belong together. */
function validateContainers(
  spec: PodSpec,
  old: PodSpec,
  at: FieldPath,
): { errors: FieldError[]; stop: boolean } {
  const errors: FieldError[] = [];
  for (const field of ['containers', 'initContainers'] as const) {
    if ((spec[field]?.length ?? 0) !== (old[field]?.length ?? 0)) {
      errors.push(
        fieldError.forbidden(at.child(field), 'pod updates may not add or remove containers'),
      );
      return { errors, stop: true };
    }
    for (const [index, { image }] of (spec[field] ?? []).entries()) {
      const imageAt = at.child(field).index(index).child('image');
      if (!image) errors.push(fieldError.required(imageAt));
      errors.push(...validateImageSpaces(image ?? '', imageAt));
    }
  }
  return { errors, stop: false };
}

/** It may be set and made shorter. */
function validateDeadline(spec: PodSpec, old: PodSpec, at: FieldPath): FieldError[] {
  const seconds = spec.activeDeadlineSeconds;
  const before = old.activeDeadlineSeconds;
  if (seconds === undefined) {
    return before === undefined
      ? []
      : [fieldError.invalid(at, undefined, 'must not update from a positive integer to nil value')];
  }
  const errors = checkRange(seconds, 0, int32Max, at);
  if (errors.length === 0 && before !== undefined && before < seconds) {
    errors.push(fieldError.invalid(at, seconds, 'must be less than or equal to previous value'));
  }
  return errors;
}

/** Tolerations may be added; of those there are, the seconds may change. */
function validateTolerationUpdate(spec: PodSpec, old: PodSpec, at: FieldPath): FieldError[] {
  const missing = (old.tolerations ?? []).some(
    (before) => !(spec.tolerations ?? []).some((toleration) => sameToleration(toleration, before)),
  );
  return missing
    ? [
        fieldError.forbidden(
          at,
          'existing toleration can not be modified except its tolerationSeconds',
        ),
      ]
    : validateTolerations(spec.tolerations, at);
}

function sameToleration(a: Toleration, b: Toleration): boolean {
  return (['key', 'operator', 'value', 'effect'] as const).every(
    (field) => (a[field] ?? '') === (b[field] ?? ''),
  );
}

/** The new spec with what may change taken from the old one. */
function fixedPart(spec: PodSpec, old: PodSpec): PodSpec {
  const fixed = deepCopy(spec);
  for (const field of ['containers', 'initContainers'] as const) {
    for (const [index, container] of (fixed[field] ?? []).entries()) {
      container.image = old[field]?.[index]?.image;
    }
  }
  fixed.activeDeadlineSeconds = old.activeDeadlineSeconds;
  fixed.tolerations = old.tolerations;
  return fixed;
}

/** Names of the fields that differ; for people. */
export function validatePodStatusUpdate(object: Pod, old: Pod): FieldError[] {
  const errors = validateFixedAnnotations(object, old);
  const status = object.status ?? {};
  const at = path('status');
  errors.push(...validateConditions(object));
  if ((object.spec?.nodeName ?? '') !== (old.spec?.nodeName ?? '')) {
    errors.push(fieldError.forbidden(at.child('nodeName'), 'may not be changed directly'));
  }
  if (status.nominatedNodeName !== old.status?.nominatedNodeName) {
    errors.push(
      ...checkOptional(
        status.nominatedNodeName,
        at.child('nominatedNodeName'),
        checkDns1123Subdomain,
      ),
    );
  }
  for (const field of ['containerStatuses', 'initContainerStatuses'] as const) {
    errors.push(
      ...validateStates(
        status[field] ?? [],
        old.status?.[field] ?? [],
        object.spec?.restartPolicy ?? 'Always',
        at.child(field),
      ),
    );
  }
  if (validatePodIps(old).length === 0) errors.push(...validatePodIps(object));
  return errors;
}

const knownConditions: ReadonlySet<string> = new Set(['PodScheduled', 'Ready', 'Initialized']);

/** Errors name conditions as if they stood in the metadata. */
function validateConditions(object: Pod): FieldError[] {
  return (object.status?.conditions ?? []).flatMap(({ type }, index) =>
    knownConditions.has(type)
      ? []
      : checkQualified(type, path('metadata', 'conditions').index(index).child('Type')),
  );
}

/** One address a family, each once. */
function validatePodIps(object: Pod): FieldError[] {
  const at = path('status', 'podIPs');
  const ips = (object.status?.podIPs ?? []).map(({ ip }) => ip ?? '');
  const errors = ips.flatMap((ip, index) =>
    isIp(ip) ? [] : [fieldError.invalid(at.index(index), ip, 'must be a valid IP address')],
  );
  if (ips.length > 2 || (ips.length === 2 && isIPv4(ips[0] ?? '') === isIPv4(ips[1] ?? ''))) {
    errors.push(fieldError.invalid(at, ips, 'may specify no more than one IP for each IP family'));
  }
  for (const [index, ip] of ips.entries()) {
    if (ips.indexOf(ip) < index) errors.push(fieldError.duplicate(at.index(index), ip));
  }
  return errors;
}

/** What has ended for good stays ended. */
function validateStates(
  statuses: readonly ContainerStatus[],
  before: readonly ContainerStatus[],
  restartPolicy: string,
  at: FieldPath,
): FieldError[] {
  if (restartPolicy === 'Always') return [];
  return before.flatMap((old, oldIndex) => {
    const ended = old.state?.terminated;
    if (!ended) return [];
    if (ended.exitCode !== 0 && restartPolicy === 'OnFailure') return [];
    return statuses.some((status) => status.name === old.name && !status.state?.terminated)
      ? [
          fieldError.forbidden(
            at.index(oldIndex).child('state'),
            'may not be transitioned to non-terminated state',
          ),
        ]
      : [];
  });
}
