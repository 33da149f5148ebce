/** Validates the claim templates of ephemeral volumes. */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  isJsonObject,
  validateAnnotations,
  validateLabels,
} from '@orch/apimachinery';
import type { EphemeralVolumeSource } from '@orch/types/core/v1';
import { validateClaimSpec } from './claim-validation.js';

export function validateEphemeralVolume(
  source: EphemeralVolumeSource,
  fieldPath: FieldPath,
): FieldError[] {
  const template = source.volumeClaimTemplate;
  const field = fieldPath.child('volumeClaimTemplate');
  if (!template) return [fieldError.required(field)];
  const metaAt = field.child('metadata');
  const errors = [
    ...validateAnnotations(template.metadata?.annotations, metaAt.child('annotations')),
    ...validateLabels(template.metadata?.labels, metaAt.child('labels')),
  ];
  for (const [name, value] of Object.entries(template.metadata ?? {})) {
    if (name === 'annotations' || name === 'labels' || isUnset(value)) continue;
    errors.push(fieldError.forbidden(metaAt, 'must only have labels and annotations'));
    break;
  }
  errors.push(...validateClaimSpec(template.spec ?? {}, field.child('spec')));
  return errors;
}

function isUnset(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return Array.isArray(value)
    ? value.length === 0
    : isJsonObject(value) && !Object.keys(value).length;
}
