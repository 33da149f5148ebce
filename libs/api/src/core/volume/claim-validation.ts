/** Validates persistent volume claims, and the fields that claims and volumes share. */
import {
  checkDns1123Subdomain,
  type FieldError,
  type FieldPath,
  fieldError,
  immutable,
  path,
  Quantity,
  semanticallyEqual,
  storageClassKey,
  validateLabelSelector,
} from '@orch/apimachinery';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '@orch/types/core/v1';
import type { StrategyContext } from '../../definition.js';
import { checkOneOf, invalidEach } from '../../shared/rules.js';
import { structDiff } from '../../shared/struct-diff/struct-diff.js';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce'];

/** Validates the spec of a claim. */
export function validateClaimSpec(
  spec: PersistentVolumeClaimSpec,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const modes = spec.accessModes ?? [];
  if (modes.length === 0) {
    errors.push(
      fieldError.required(fieldPath.child('accessModes'), 'at least 1 access mode is required'),
    );
  }
  errors.push(...validateLabelSelector(spec.selector, fieldPath.child('selector')));
  errors.push(...validateAccessModes(modes, fieldPath.child('accessModes')));
  const storage = spec.resources?.requests?.storage;
  const storageAt = fieldPath.child('resources').key('storage');
  if (storage === undefined) errors.push(fieldError.required(storageAt));
  else errors.push(...validatePositive(storage, storageAt));
  if (spec.storageClassName) {
    const name = spec.storageClassName;
    errors.push(
      ...invalidEach(fieldPath.child('storageClassName'), name, checkDns1123Subdomain(name)),
    );
  }
  errors.push(...validateVolumeMode(spec.volumeMode, fieldPath.child('volumeMode')));
  errors.push(...validateDataSource(spec, fieldPath.child('dataSource')));
  return errors;
}

export function validatePositive(text: string, fieldPath: FieldPath): FieldError[] {
  const amount = Quantity.parse(text);
  return amount.nanos > 0n
    ? []
    : [fieldError.invalid(fieldPath, amount.toString(), 'must be greater than zero')];
}

function validateDataSource(spec: PersistentVolumeClaimSpec, fieldPath: FieldPath): FieldError[] {
  const { dataSource } = spec;
  if (!dataSource) return [];
  const errors: FieldError[] = [];
  if (!dataSource.name) errors.push(fieldError.required(fieldPath.child('name')));
  if (!dataSource.kind) errors.push(fieldError.required(fieldPath.child('kind')));
  if (!dataSource.apiGroup && dataSource.kind !== 'PersistentVolumeClaim') {
    errors.push(fieldError.invalid(fieldPath, dataSource.kind ?? '', ''));
  }
  return errors;
}

/** Errors name the list. */
export function validateAccessModes(modes: readonly string[], fieldPath: FieldPath): FieldError[] {
  return modes
    .filter((mode) => !accessModes.includes(mode))
    .map((mode) => fieldError.notSupported(fieldPath, mode, accessModes));
}

export function validateVolumeMode(mode: string | undefined, fieldPath: FieldPath): FieldError[] {
  return mode === undefined ? [] : checkOneOf(mode, ['Block', 'Filesystem'], fieldPath);
}

/**
 * The spec is immutable, except: the volume name may be set once, the class may move from its
 * annotation to the field, and a bound claim may grow if the feature is enabled.
 */
export function validateClaimUpdate(
  object: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  { features }: Pick<StrategyContext, 'features'>,
): FieldError[] {
  const spec = structuredClone(object.spec ?? {});
  const before = structuredClone(old.spec ?? {});
  const errors: FieldError[] = [];
  if (!before.volumeName) before.volumeName = spec.volumeName;
  if (movesClass(object, old)) delete spec.storageClassName;
  else errors.push(...validateClassAnnotation(object, old));
  if (features.enabled('ExpandPersistentVolumes')) {
    errors.push(...validateExpansion(spec, before, object.status?.phase === 'Bound'));
  } else if (!semanticallyEqual(spec, before)) {
    errors.push(fieldError.forbidden(path('spec'), 'field is immutable after creation'));
  }
  if (object.spec?.volumeMode !== old.spec?.volumeMode) {
    errors.push(immutable(path('volumeMode'), object.spec?.volumeMode));
  }
  return errors;
}

/** Mutates `spec`, a copy. */
function validateExpansion(
  spec: PersistentVolumeClaimSpec,
  before: PersistentVolumeClaimSpec,
  isBound: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  const size = spec.resources?.requests?.storage ?? '0';
  const sizeBefore = before.resources?.requests?.storage ?? '0';
  if (isBound && spec.resources?.requests) spec.resources.requests.storage = sizeBefore;
  const fieldPath = path('spec');
  if (!semanticallyEqual(spec, before)) {
    const detail = 'spec is immutable after creation except resources.requests for bound claims';
    const changes = structDiff('core/v1.PersistentVolumeClaimSpec', spec, before);
    errors.push(fieldError.forbidden(fieldPath, `${detail}\n${changes}`));
  }
  if (Quantity.parse(size).compare(Quantity.parse(sizeBefore)) < 0) {
    const field = fieldPath.child('resources', 'requests', 'storage');
    errors.push(fieldError.forbidden(field, 'field can not be less than previous value'));
  }
  return errors;
}

function movesClass(object: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const before = old.metadata?.annotations?.[storageClassKey()];
  const after = object.metadata?.annotations?.[storageClassKey()];
  return (
    before !== undefined &&
    old.spec?.storageClassName === undefined &&
    object.spec?.storageClassName === before &&
    (after === undefined || after === before)
  );
}

function validateClassAnnotation(
  object: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): FieldError[] {
  const key = storageClassKey();
  const value = object.metadata?.annotations?.[key] ?? '';
  return value === (old.metadata?.annotations?.[key] ?? '')
    ? []
    : [immutable(path('metadata', 'annotations', key), value)];
}
