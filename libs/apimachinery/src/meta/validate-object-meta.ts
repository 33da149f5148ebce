/**
 * Rules of metadata that hold for every kind. Errors come in the order in which clients of the interface
 * know them. Source: `ObjectMeta` in the validation facts.
 */
import { dialect } from '@orch/component';
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '@orch/types/meta/v1';
import { annotationBytesMax } from '../limits.js';
import { checkDns1035Label, checkDns1123Label, checkQualifiedName } from '../names/formats.js';
import type { NameFormat } from '../names/object-names.js';
import { validateLabels } from '../selectors/label-selector.js';
import { type FieldError, fieldError } from '../status/field-error.js';
import { type FieldPath, path } from '../status/field-path.js';
import { stringList } from '../status/value-format.js';
import { parseApiVersion } from './owner-references.js';

export interface ObjectMetaRules {
  readonly namespaced: boolean;
  readonly validateName: NameFormat;
  /** Finalizers without a slash must be well-known; true for nearly all built-in kinds. */
  readonly strictFinalizers: boolean;
}

/** Rules for what is to be stored: at creation, and for the new object at update. */
export function validateObjectMeta(
  meta: ObjectMeta,
  rules: ObjectMetaRules,
  at: FieldPath = path('metadata'),
): FieldError[] {
  const errors = [...validateNames(meta, rules, at), ...validateNamespace(meta, rules, at)];
  if (meta.clusterName) {
    const { clusterName } = meta;
    errors.push(
      ...checkDns1035Label(clusterName).map((message) =>
        fieldError.invalid(at.child('clusterName'), clusterName, message),
      ),
    );
  }
  if (Number(meta.generation ?? 0) < 0) {
    errors.push(
      fieldError.invalid(
        at.child('generation'),
        meta.generation,
        'must be greater than or equal to 0',
      ),
    );
  }
  errors.push(
    ...validateLabels(meta.labels, at.child('labels')),
    ...validateAnnotations(meta.annotations, at.child('annotations')),
    ...validateOwnerReferences(meta.ownerReferences ?? [], at.child('ownerReferences')),
    ...validateFinalizers(meta.finalizers ?? [], rules.strictFinalizers, at.child('finalizers')),
    ...validateManagedFields(meta.managedFields ?? [], at.child('managedFields')),
  );
  return errors;
}

/** Rules between the old and the new metadata at update; the registry reports them twice. */
export function validateObjectMetaUpdate(
  meta: ObjectMeta,
  old: ObjectMeta,
  at: FieldPath = path('metadata'),
): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    errors.push(...validateNoNewFinalizers(meta, old, at.child('finalizers')));
  }
  if (!meta.resourceVersion) {
    errors.push(
      fieldError.invalid(at.child('resourceVersion'), '', 'must be specified for an update'),
    );
  }
  if (Number(meta.generation ?? 0) < Number(old.generation ?? 0)) {
    errors.push(
      fieldError.invalid(at.child('generation'), meta.generation ?? 0, 'must not be decremented'),
    );
  }
  for (const field of immutableFields) {
    if ((meta[field] ?? '') !== (old[field] ?? '')) {
      errors.push(immutable(at.child(field), meta[field]));
    }
  }
  errors.push(
    ...validateLabels(meta.labels, at.child('labels')),
    ...validateAnnotations(meta.annotations, at.child('annotations')),
    ...validateOwnerReferences(meta.ownerReferences ?? [], at.child('ownerReferences')),
    ...validateManagedFields(meta.managedFields ?? [], at.child('managedFields')),
  );
  return errors;
}

const immutableFields = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'clusterName',
] as const;

/** The refusal to change a field. */
export function immutable(at: FieldPath, value: unknown): FieldError {
  return fieldError.invalid(at, value, 'field is immutable');
}

function validateNames(meta: ObjectMeta, rules: ObjectMetaRules, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const { generateName, name } = meta;
  if (generateName) {
    errors.push(
      ...rules
        .validateName(generateName, true)
        .map((message) => fieldError.invalid(at.child('generateName'), generateName, message)),
    );
  }
  if (!name) {
    errors.push(fieldError.required(at.child('name'), 'name or generateName is required'));
  } else {
    errors.push(
      ...rules
        .validateName(name, false)
        .map((message) => fieldError.invalid(at.child('name'), name, message)),
    );
  }
  return errors;
}

function validateNamespace(meta: ObjectMeta, rules: ObjectMetaRules, at: FieldPath): FieldError[] {
  const field = at.child('namespace');
  const { namespace } = meta;
  if (!rules.namespaced) {
    return namespace ? [fieldError.forbidden(field, 'not allowed on this type')] : [];
  }
  if (!namespace) return [fieldError.required(field)];
  return checkDns1123Label(namespace).map((message) =>
    fieldError.invalid(field, namespace, message),
  );
}

/** Keys are compared without regard to case; the size of all keys and values is bounded. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  let byteCount = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    errors.push(
      ...checkQualifiedName(key.toLowerCase()).map((message) =>
        fieldError.invalid(at, key, message),
      ),
    );
    byteCount += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (byteCount > annotationBytesMax) errors.push(fieldError.tooLong(at, annotationBytesMax));
  return errors;
}

function validateOwnerReferences(
  references: readonly OwnerReference[],
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  let controllerName: string | undefined;
  for (const reference of references) {
    errors.push(...validateOwnerReference(reference, at));
    if (reference.controller !== true) continue;
    if (controllerName === undefined) controllerName = reference.name ?? '';
    else {
      errors.push(
        fieldError.invalid(
          at,
          references,
          `Only one reference can have Controller set to true. Found "true" in references for ${controllerName} and ${reference.name}`,
        ),
      );
    }
  }
  return errors;
}

function validateOwnerReference(reference: OwnerReference, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const { group, version } = parseApiVersion(reference.apiVersion ?? '');
  if (version === '') {
    errors.push(
      fieldError.invalid(
        at.child('apiVersion'),
        reference.apiVersion ?? '',
        'version must not be empty',
      ),
    );
  }
  for (const field of ['kind', 'name', 'uid'] as const) {
    if (!reference[field]) {
      errors.push(fieldError.invalid(at.child(field), '', `${field} must not be empty`));
    }
  }
  if (group === '' && version === 'v1' && reference.kind === 'Event') {
    errors.push(
      fieldError.invalid(at, reference, '/v1, Kind=Event is disallowed from being an owner'),
    );
  }
  return errors;
}

function validateFinalizers(
  finalizers: readonly string[],
  strict: boolean,
  at: FieldPath,
): FieldError[] {
  const errors = finalizers.flatMap((name) =>
    checkQualifiedName(name).map((message) => fieldError.invalid(at, name, message)),
  );
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(
      fieldError.invalid(
        at,
        finalizers,
        'finalizer orphan and foregroundDeletion cannot be both set',
      ),
    );
  }
  if (!strict) return errors;
  for (const [index, name] of finalizers.entries()) {
    errors.push(...validateStandardFinalizer(name, at.index(index)));
  }
  return errors;
}

/** A finalizer without a slash must be one of the known ones. */
export function validateStandardFinalizer(name: string, at: FieldPath): FieldError[] {
  if (name.includes('/')) return [];
  const standard = [dialect().word, 'orphan', 'foregroundDeletion'];
  return standard.includes(name)
    ? []
    : [
        fieldError.invalid(
          at,
          name,
          'name is neither a standard finalizer name nor is it fully qualified',
        ),
      ];
}

function validateNoNewFinalizers(meta: ObjectMeta, old: ObjectMeta, at: FieldPath): FieldError[] {
  const known = new Set(old.finalizers ?? []);
  const added = [...new Set((meta.finalizers ?? []).filter((name) => !known.has(name)))].sort();
  return added.length === 0
    ? []
    : [
        fieldError.forbidden(
          at,
          `no new finalizers can be added if the object is being deleted, found new finalizers ${stringList(added).text}`,
        ),
      ];
}

function validateManagedFields(
  entries: readonly ManagedFieldsEntry[],
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, entry] of entries.entries()) {
    const field = at.index(index);
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      errors.push(
        fieldError.invalid(
          field.child('operation'),
          entry.operation ?? '',
          'must be `Apply` or `Update`',
        ),
      );
    }
    if (entry.fieldsType && entry.fieldsType !== 'FieldsV1') {
      errors.push(
        fieldError.invalid(field.child('fieldsType'), entry.fieldsType, 'must be `FieldsV1`'),
      );
    }
    errors.push(...validateFieldManager(entry.manager ?? '', field.child('manager')));
  }
  return errors;
}

const fieldManagerLengthMax = 128;

/** Also for the `fieldManager` parameter of requests. */
export function validateFieldManager(manager: string, at: FieldPath): FieldError[] {
  if (Buffer.byteLength(manager) > fieldManagerLengthMax) {
    return [fieldError.tooLong(at, fieldManagerLengthMax)];
  }
  for (const [position, character] of [...manager].entries()) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      return [
        fieldError.invalid(at, manager, `invalid character U+${code} (at position ${position})`),
      ];
    }
  }
  return [];
}
