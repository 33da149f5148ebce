/** Validates updates of pods: which fields of the spec and the status are mutable. */
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
import { changedFields, checkOptional, checkQualified, checkRange } from '../../shared/rules.js';
import { validateImageSpaces } from '../container/container-validation.js';
import { validateTolerations } from '../placement/affinity-validation.js';
import { appArmorPrefix, mirrorAnnotation } from './pod-annotations.js';

const int32Max = 2 ** 31 - 1;
const changeable =
  'pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)';

export function validatePodUpdate(object: Pod, old: Pod): FieldError[] {
  const spec = object.spec ?? {};
  const oldSpec = old.spec ?? {};
  const fieldPath = path('spec');
  const errors = validateFixedAnnotations(object, old);
  const containers = validateContainers(spec, oldSpec, fieldPath);
  errors.push(...containers.errors);
  if (containers.stop) return errors;
  const deadline = validateDeadline(spec, oldSpec, fieldPath.child('activeDeadlineSeconds'));
  errors.push(...deadline);
  if (deadline.length > 0 && spec.activeDeadlineSeconds !== undefined) return errors;
  errors.push(...validateTolerationUpdate(spec, oldSpec, fieldPath.child('tolerations')));
  if (!semanticallyEqual(fixedPart(spec, oldSpec), oldSpec)) {
    errors.push(
      fieldError.forbidden(
        fieldPath,
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
  const fieldPath = path('metadata', 'annotations');
  const keys = new Set([...Object.keys(before), ...Object.keys(annotations)]);
  for (const key of keys) {
    const isMirror = key === mirrorAnnotation();
    if (!isMirror && !key.startsWith(appArmorPrefix())) continue;
    if (annotations[key] === before[key]) continue;
    const detail = isMirror
      ? 'may not add, remove or update mirror pod annotation'
      : 'may not add, remove or update AppArmor annotations';
    errors.push(fieldError.forbidden(fieldPath.key(key), detail));
  }
  return errors;
}

/** `stop`: skips the remaining rules, because they compare container by container. */
function validateContainers(
  spec: PodSpec,
  old: PodSpec,
  fieldPath: FieldPath,
): { errors: FieldError[]; stop: boolean } {
  const errors: FieldError[] = [];
  for (const field of ['containers', 'initContainers'] as const) {
    if ((spec[field]?.length ?? 0) !== (old[field]?.length ?? 0)) {
      errors.push(
        fieldError.forbidden(
          fieldPath.child(field),
          'pod updates may not add or remove containers',
        ),
      );
      return { errors, stop: true };
    }
    for (const [index, { image }] of (spec[field] ?? []).entries()) {
      const imageAt = fieldPath.child(field).index(index).child('image');
      if (!image) errors.push(fieldError.required(imageAt));
      errors.push(...validateImageSpaces(image ?? '', imageAt));
    }
  }
  return { errors, stop: false };
}

/** The deadline may be set and shortened. */
function validateDeadline(spec: PodSpec, old: PodSpec, fieldPath: FieldPath): FieldError[] {
  const seconds = spec.activeDeadlineSeconds;
  const before = old.activeDeadlineSeconds;
  if (seconds === undefined) {
    return before === undefined
      ? []
      : [
          fieldError.invalid(
            fieldPath,
            undefined,
            'must not update from a positive integer to nil value',
          ),
        ];
  }
  const errors = checkRange(seconds, 0, int32Max, fieldPath);
  if (errors.length === 0 && before !== undefined && before < seconds) {
    errors.push(
      fieldError.invalid(fieldPath, seconds, 'must be less than or equal to previous value'),
    );
  }
  return errors;
}

/** Tolerations may be added; in existing ones, the seconds may change. */
function validateTolerationUpdate(spec: PodSpec, old: PodSpec, fieldPath: FieldPath): FieldError[] {
  const missing = (old.tolerations ?? []).some(
    (before) => !(spec.tolerations ?? []).some((toleration) => sameToleration(toleration, before)),
  );
  return missing
    ? [
        fieldError.forbidden(
          fieldPath,
          'existing toleration can not be modified except its tolerationSeconds',
        ),
      ]
    : validateTolerations(spec.tolerations, fieldPath);
}

function sameToleration(a: Toleration, b: Toleration): boolean {
  return (['key', 'operator', 'value', 'effect'] as const).every(
    (field) => (a[field] ?? '') === (b[field] ?? ''),
  );
}

/** The new spec with its mutable fields taken from the old one. */
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

/** The names of the changed fields, for the message. */
export function validatePodStatusUpdate(object: Pod, old: Pod): FieldError[] {
  const errors = validateFixedAnnotations(object, old);
  const status = object.status ?? {};
  const fieldPath = path('status');
  errors.push(...validateConditions(object));
  if ((object.spec?.nodeName ?? '') !== (old.spec?.nodeName ?? '')) {
    errors.push(fieldError.forbidden(fieldPath.child('nodeName'), 'may not be changed directly'));
  }
  if (status.nominatedNodeName !== old.status?.nominatedNodeName) {
    errors.push(
      ...checkOptional(
        status.nominatedNodeName,
        fieldPath.child('nominatedNodeName'),
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
        fieldPath.child(field),
      ),
    );
  }
  if (validatePodIps(old).length === 0) errors.push(...validatePodIps(object));
  return errors;
}

const knownConditions: ReadonlySet<string> = new Set(['PodScheduled', 'Ready', 'Initialized']);

/** Errors name conditions as if they were in the metadata. */
function validateConditions(object: Pod): FieldError[] {
  return (object.status?.conditions ?? []).flatMap(({ type }, index) =>
    knownConditions.has(type)
      ? []
      : checkQualified(type, path('metadata', 'conditions').index(index).child('Type')),
  );
}

/** One address per family, no duplicates. */
function validatePodIps(object: Pod): FieldError[] {
  const fieldPath = path('status', 'podIPs');
  const ips = (object.status?.podIPs ?? []).map(({ ip }) => ip ?? '');
  const errors = ips.flatMap((ip, index) =>
    isIp(ip) ? [] : [fieldError.invalid(fieldPath.index(index), ip, 'must be a valid IP address')],
  );
  if (ips.length > 2 || (ips.length === 2 && isIPv4(ips[0] ?? '') === isIPv4(ips[1] ?? ''))) {
    errors.push(
      fieldError.invalid(fieldPath, ips, 'may specify no more than one IP for each IP family'),
    );
  }
  for (const [index, ip] of ips.entries()) {
    if (ips.indexOf(ip) < index) errors.push(fieldError.duplicate(fieldPath.index(index), ip));
  }
  return errors;
}

/** A terminated container must stay terminated. */
function validateStates(
  statuses: readonly ContainerStatus[],
  before: readonly ContainerStatus[],
  restartPolicy: string,
  fieldPath: FieldPath,
): FieldError[] {
  if (restartPolicy === 'Always') return [];
  return before.flatMap((old, oldIndex) => {
    const ended = old.state?.terminated;
    if (!ended) return [];
    if (ended.exitCode !== 0 && restartPolicy === 'OnFailure') return [];
    return statuses.some((status) => status.name === old.name && !status.state?.terminated)
      ? [
          fieldError.forbidden(
            fieldPath.index(oldIndex).child('state'),
            'may not be transitioned to non-terminated state',
          ),
        ]
      : [];
  });
}
