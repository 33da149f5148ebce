/**
 * Validates ephemeral containers, which are added to a running pod for debugging: they have no
 * guarantees, and an existing one can neither change nor be removed.
 */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { EphemeralContainer, Pod, PodSpec } from '@orch/types/core/v1';
import { changedFields } from '../../shared/rules.js';
import {
  type ContainerRules,
  validateContainerList,
  validateImageSpaces,
} from './container-validation.js';

/** In the order in which errors list them. */
const forbiddenFields = [
  'ports',
  'resources',
  'volumeDevices',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'securityContext',
] as const;

export function validateEphemeralContainers(
  spec: PodSpec,
  rules: ContainerRules,
  fieldPath: FieldPath,
): FieldError[] {
  const names = new Set(
    [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name }) => name ?? ''),
  );
  return (spec.ephemeralContainers ?? []).flatMap((container, index) => {
    const field = fieldPath.child('ephemeralContainers').index(index);
    const errors = validateTarget(container, names, field);
    const { name } = container;
    if (!name) return [...errors, fieldError.required(field, 'ephemeralContainer requires a name')];
    errors.push(...validateContainerList([container], rules, field));
    const image = container.image ?? '';
    errors.push(...validateImageSpaces(image, field.index(0).child('image')));
    if (names.has(name)) errors.push(fieldError.duplicate(field.child('name'), name));
    names.add(name);
    for (const forbidden of forbiddenFields) {
      if (isEmpty(container[forbidden])) continue;
      const detail = 'cannot be set for an Ephemeral Container';
      errors.push(fieldError.forbidden(field.child(forbidden), detail));
    }
    return errors;
  });
}

/** The target must be a regular container or an earlier ephemeral one. */
function validateTarget(
  { targetContainerName: target }: EphemeralContainer,
  names: ReadonlySet<string>,
  fieldPath: FieldPath,
): FieldError[] {
  return !target || names.has(target)
    ? []
    : [fieldError.notFound(fieldPath.child('targetContainerName'), target)];
}

function isEmpty(value: object | undefined): boolean {
  return value === undefined || Object.keys(value).length === 0;
}

/** Patches do not preserve the order, so containers are compared by name. */
export function validateEphemeralContainersUpdate(object: Pod, old: Pod): FieldError[] {
  const spec = object.spec ?? {};
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
  const fieldPath = path('spec', 'ephemeralContainers');
  const errors = validateEphemeralContainers(spec, { volumes }, path('spec'));
  const byName = new Map(
    (spec.ephemeralContainers ?? []).map((ephemeralContainer) => [
      ephemeralContainer.name,
      ephemeralContainer,
    ]),
  );
  for (const before of old.spec?.ephemeralContainers ?? []) {
    const named = `existing ephemeral containers ${JSON.stringify(before.name)} may not be`;
    const now = byName.get(before.name);
    if (!now) errors.push(fieldError.forbidden(fieldPath, `${named} removed\n`));
    else if (!semanticallyEqual(now, before)) {
      errors.push(
        fieldError.forbidden(fieldPath, `${named} changed\n${changedFields(now, before)}`),
      );
    }
  }
  return errors;
}
