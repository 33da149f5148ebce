/** Validates annotations of pods with a meaning. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { PodSpec, Toleration } from '@orch/types/core/v1';
import { invalidEach } from '../../shared/rules.js';
import { parseList } from '../common/annotation-list.js';
import { validateLocalDescendingPath } from '../common/path-rules.js';
import { validateTolerations } from '../placement/affinity-validation.js';
import { containerSeccompKey, podSeccompKey } from './seccomp.js';

type Annotations = Readonly<Record<string, string>>;

/** Marks a mirror pod: the API object of a static pod. */
export function mirrorAnnotation(): string {
  return dialect().key('config.mirror');
}

export function appArmorPrefix(): string {
  return dialect().key('', 'container.apparmor.security.beta');
}

export function validatePodAnnotations(
  annotations: Annotations | undefined,
  spec: PodSpec,
  fieldPath: FieldPath,
): FieldError[] {
  if (!annotations) return [];
  const errors: FieldError[] = [];
  const mirror = annotations[mirrorAnnotation()];
  if (mirror !== undefined && !spec.nodeName) {
    errors.push(
      fieldError.invalid(
        fieldPath.key(mirrorAnnotation()),
        mirror,
        'must set spec.nodeName if mirror pod annotation is set',
      ),
    );
  }
  errors.push(...validateTolerationList(annotations, fieldPath));
  errors.push(...validateDeletionCost(annotations, fieldPath));
  errors.push(...validateSeccomp(annotations, fieldPath));
  errors.push(...validateAppArmor(annotations, spec, fieldPath));
  return errors;
}

/** Tolerations as a JSON list, from clients that predate the field. */
function validateTolerationList(annotations: Annotations, fieldPath: FieldPath): FieldError[] {
  const key = dialect().key('tolerations', 'scheduler.alpha');
  const text = annotations[key];
  if (!text) return [];
  const list = parseList<Toleration>(text);
  return typeof list === 'string'
    ? [fieldError.invalid(fieldPath, key, list)]
    : validateTolerations(list, fieldPath.child(key));
}

function validateDeletionCost(annotations: Annotations, fieldPath: FieldPath): FieldError[] {
  const key = dialect().key('pod-deletion-cost', 'controller');
  const value = annotations[key];
  if (value === undefined) return [];
  const number = Number(value);
  const fits = /^(0|-?[1-9]\d{0,9})$/.test(value) && number >= -(2 ** 31) && number < 2 ** 31;
  return fits ? [] : [fieldError.invalid(fieldPath.key(key), value, 'must be a 32bit integer')];
}

function validateSeccomp(annotations: Annotations, fieldPath: FieldPath): FieldError[] {
  const podKey = podSeccompKey();
  const containerPrefix = containerSeccompKey('');
  return Object.entries(annotations).flatMap(([key, value]) =>
    key === podKey || key.startsWith(containerPrefix)
      ? validateSeccompProfile(value, fieldPath.child(key))
      : [],
  );
}

const seccompProfiles = ['runtime/default', 'docker/default', 'unconfined'];
const localPrefix = 'localhost/';

export function validateSeccompProfile(profile: string, fieldPath: FieldPath): FieldError[] {
  if (seccompProfiles.includes(profile)) return [];
  if (profile.startsWith(localPrefix)) {
    return validateLocalDescendingPath(profile.slice(localPrefix.length), fieldPath);
  }
  return [fieldError.invalid(fieldPath, profile, 'must be a valid seccomp profile')];
}

export function checkAppArmorProfile(profile: string): string[] {
  if (['', 'runtime/default', 'unconfined'].includes(profile)) return [];
  return profile.startsWith(localPrefix) ? [] : [`invalid AppArmor profile name: "${profile}"`];
}

function validateAppArmor(
  annotations: Annotations,
  spec: PodSpec,
  fieldPath: FieldPath,
): FieldError[] {
  const prefix = appArmorPrefix();
  const names = new Set(
    [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map(({ name }) => name),
  );
  const errors: FieldError[] = [];
  for (const [key, profile] of Object.entries(annotations)) {
    if (!key.startsWith(prefix)) continue;
    const name = key.slice(prefix.length);
    if (!names.has(name))
      errors.push(fieldError.invalid(fieldPath.key(key), name, 'container not found'));
    errors.push(...invalidEach(fieldPath.key(key), profile, checkAppArmorProfile(profile)));
  }
  return errors;
}
