/** Rules of the claim templates of ephemeral volumes. */
import {
  checkDns1123Subdomain,
  type FieldError,
  type FieldPath,
  fieldError,
  isJsonObject,
  Quantity,
  validateAnnotations,
  validateLabelSelector,
  validateLabels,
} from '@orch/apimachinery';
import type { EphemeralVolumeSource, PersistentVolumeClaimSpec } from '@orch/types/core/v1';
import { invalidEach } from '../shared/rules.js';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce'];

export function validateEphemeralVolume(
  source: EphemeralVolumeSource,
  at: FieldPath,
): FieldError[] {
  const template = source.volumeClaimTemplate;
  const field = at.child('volumeClaimTemplate');
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

/** Rules of a claim's spec; the claim kind has more. */
function validateClaimSpec(spec: PersistentVolumeClaimSpec, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const modes = spec.accessModes ?? [];
  if (modes.length === 0) {
    errors.push(fieldError.required(at.child('accessModes'), 'at least 1 access mode is required'));
  }
  errors.push(...validateLabelSelector(spec.selector, at.child('selector')));
  for (const mode of modes) {
    if (!accessModes.includes(mode)) {
      errors.push(fieldError.notSupported(at.child('accessModes'), mode, accessModes));
    }
  }
  const storage = spec.resources?.requests?.storage;
  const storageAt = at.child('resources').key('storage');
  if (storage === undefined) errors.push(fieldError.required(storageAt));
  else errors.push(...validatePositive(storage, storageAt));
  if (spec.storageClassName) {
    const name = spec.storageClassName;
    errors.push(...invalidEach(at.child('storageClassName'), name, checkDns1123Subdomain(name)));
  }
  if (spec.volumeMode !== undefined && !['Block', 'Filesystem'].includes(spec.volumeMode)) {
    errors.push(
      fieldError.notSupported(at.child('volumeMode'), spec.volumeMode, ['Block', 'Filesystem']),
    );
  }
  errors.push(...validateDataSource(spec, at.child('dataSource')));
  return errors;
}

function validatePositive(text: string, at: FieldPath): FieldError[] {
  const amount = Quantity.parse(text);
  return amount.nanos > 0n
    ? []
    : [fieldError.invalid(at, amount.toString(), 'must be greater than zero')];
}

function validateDataSource(spec: PersistentVolumeClaimSpec, at: FieldPath): FieldError[] {
  const { dataSource } = spec;
  if (!dataSource) return [];
  const errors: FieldError[] = [];
  if (!dataSource.name) errors.push(fieldError.required(at.child('name')));
  if (!dataSource.kind) errors.push(fieldError.required(at.child('kind')));
  if (!dataSource.apiGroup && dataSource.kind !== 'PersistentVolumeClaim') {
    errors.push(fieldError.invalid(at, dataSource.kind ?? '', ''));
  }
  return errors;
}
