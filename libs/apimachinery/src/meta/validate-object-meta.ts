/**
 * Metadata rules for every kind. Errors are in the upstream order. Source: `ObjectMeta` in the
 * recorded validation fixtures.
 */
import { dialect } from '@orch/component';
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '@orch/types/meta/v1';
import { annotationBytesMax } from '../limits.js';
import { checkDns1035Label, checkDns1123Label, checkQualifiedName } from '../names/formats.js';
import type { NameFormat } from '../names/object-names.js';
import { validateLabels } from '../selectors/label-selector.js';
import { type FieldError, fieldError } from '../status/field-error.js';
import { type FieldPath, path } from '../status/field-path.js';
import { Literal, stringList } from '../status/value-format.js';
import { parseApiVersion } from './owner-references.js';

export interface ObjectMetaRules {
  readonly namespaced: boolean;
  readonly validateName: NameFormat;
  /** Finalizers without a slash must be well-known; true for nearly all built-in kinds. */
  readonly strictFinalizers: boolean;
}

/** Rules for the object to store, at creation and at update. */
export function validateObjectMeta(
  meta: ObjectMeta,
  rules: ObjectMetaRules,
  fieldPath: FieldPath = path('metadata'),
): FieldError[] {
  const errors = [
    ...validateNames(meta, rules, fieldPath),
    ...validateNamespace(meta, rules, fieldPath),
  ];
  if (meta.clusterName) {
    const { clusterName } = meta;
    errors.push(
      ...checkDns1035Label(clusterName).map((message) =>
        fieldError.invalid(fieldPath.child('clusterName'), clusterName, message),
      ),
    );
  }
  if (Number(meta.generation ?? 0) < 0) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('generation'),
        meta.generation,
        'must be greater than or equal to 0',
      ),
    );
  }
  errors.push(
    ...validateLabels(meta.labels, fieldPath.child('labels')),
    ...validateAnnotations(meta.annotations, fieldPath.child('annotations')),
    ...validateOwnerReferences(meta.ownerReferences ?? [], fieldPath.child('ownerReferences')),
    ...validateFinalizers(
      meta.finalizers ?? [],
      rules.strictFinalizers,
      fieldPath.child('finalizers'),
    ),
    ...validateManagedFields(meta.managedFields ?? [], fieldPath.child('managedFields')),
  );
  return errors;
}

/** Rules between the old and the new metadata at update. */
export function validateObjectMetaUpdate(
  meta: ObjectMeta,
  old: ObjectMeta,
  strictFinalizers: boolean,
  fieldPath: FieldPath = path('metadata'),
): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    errors.push(...validateNoNewFinalizers(meta, old, fieldPath.child('finalizers')));
  }
  if (!meta.resourceVersion) {
    errors.push(
      fieldError.invalid(fieldPath.child('resourceVersion'), '', 'must be specified for an update'),
    );
  }
  if (Number(meta.generation ?? 0) < Number(old.generation ?? 0)) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('generation'),
        meta.generation ?? 0,
        'must not be decremented',
      ),
    );
  }
  for (const field of immutableFields) {
    if ((meta[field] ?? '') !== (old[field] ?? '')) {
      const value = isTime(field) ? formattedTime(meta[field]) : meta[field];
      errors.push(immutable(fieldPath.child(field), value));
    }
  }
  errors.push(
    ...validateLabels(meta.labels, fieldPath.child('labels')),
    ...validateAnnotations(meta.annotations, fieldPath.child('annotations')),
    ...validateOwnerReferences(meta.ownerReferences ?? [], fieldPath.child('ownerReferences')),
    ...validateManagedFields(meta.managedFields ?? [], fieldPath.child('managedFields')),
  );
  if (strictFinalizers) {
    errors.push(
      ...validateStandardFinalizers(meta.finalizers ?? [], fieldPath.child('finalizers')),
    );
  }
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

function isTime(field: string): field is 'creationTimestamp' | 'deletionTimestamp' {
  return field.endsWith('Timestamp');
}

/** `2026-01-02 03:04:05 +0000 UTC`, as messages show times. */
function formattedTime(time: string | undefined): Literal | undefined {
  if (time === undefined) return undefined;
  return new Literal(`${time.slice(0, 10)} ${time.slice(11, 19)} +0000 UTC`);
}

/** The error for a change of an immutable field. */
export function immutable(fieldPath: FieldPath, value: unknown): FieldError {
  return fieldError.invalid(fieldPath, value, 'field is immutable');
}

function validateNames(
  meta: ObjectMeta,
  rules: ObjectMetaRules,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const { generateName, name } = meta;
  if (generateName) {
    errors.push(
      ...rules
        .validateName(generateName, true)
        .map((message) =>
          fieldError.invalid(fieldPath.child('generateName'), generateName, message),
        ),
    );
  }
  if (!name) {
    errors.push(fieldError.required(fieldPath.child('name'), 'name or generateName is required'));
  } else {
    errors.push(
      ...rules
        .validateName(name, false)
        .map((message) => fieldError.invalid(fieldPath.child('name'), name, message)),
    );
  }
  return errors;
}

function validateNamespace(
  meta: ObjectMeta,
  rules: ObjectMetaRules,
  fieldPath: FieldPath,
): FieldError[] {
  const field = fieldPath.child('namespace');
  const { namespace } = meta;
  if (!rules.namespaced) {
    return namespace ? [fieldError.forbidden(field, 'not allowed on this type')] : [];
  }
  if (!namespace) return [fieldError.required(field)];
  return checkDns1123Label(namespace).map((message) =>
    fieldError.invalid(field, namespace, message),
  );
}

/** Validates keys in lower case, and limits the total size of keys and values. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  let byteCount = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    errors.push(
      ...checkQualifiedName(key.toLowerCase()).map((message) =>
        fieldError.invalid(fieldPath, key, message),
      ),
    );
    byteCount += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (byteCount > annotationBytesMax)
    errors.push(fieldError.tooLong(fieldPath, annotationBytesMax));
  return errors;
}

function validateOwnerReferences(
  references: readonly OwnerReference[],
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  let controllerName: string | undefined;
  for (const reference of references) {
    errors.push(...validateOwnerReference(reference, fieldPath));
    if (reference.controller !== true) continue;
    if (controllerName === undefined) controllerName = reference.name ?? '';
    else {
      errors.push(
        fieldError.invalid(
          fieldPath,
          references,
          `Only one reference can have Controller set to true. Found "true" in references for ${controllerName} and ${reference.name}`,
        ),
      );
    }
  }
  return errors;
}

function validateOwnerReference(reference: OwnerReference, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const { group, version } = parseApiVersion(reference.apiVersion ?? '');
  if (version === '') {
    errors.push(
      fieldError.invalid(
        fieldPath.child('apiVersion'),
        reference.apiVersion ?? '',
        'version must not be empty',
      ),
    );
  }
  for (const field of ['kind', 'name', 'uid'] as const) {
    if (!reference[field]) {
      errors.push(fieldError.invalid(fieldPath.child(field), '', `${field} must not be empty`));
    }
  }
  if (group === '' && version === 'v1' && reference.kind === 'Event') {
    errors.push(
      fieldError.invalid(fieldPath, reference, '/v1, Kind=Event is disallowed from being an owner'),
    );
  }
  return errors;
}

function validateFinalizers(
  finalizers: readonly string[],
  strict: boolean,
  fieldPath: FieldPath,
): FieldError[] {
  const errors = finalizers.flatMap((name) =>
    checkQualifiedName(name).map((message) => fieldError.invalid(fieldPath, name, message)),
  );
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(
      fieldError.invalid(
        fieldPath,
        finalizers,
        'finalizer orphan and foregroundDeletion cannot be both set',
      ),
    );
  }
  return strict ? [...errors, ...validateStandardFinalizers(finalizers, fieldPath)] : errors;
}

function validateStandardFinalizers(
  finalizers: readonly string[],
  fieldPath: FieldPath,
): FieldError[] {
  return finalizers.flatMap((name, index) =>
    validateStandardFinalizer(name, fieldPath.index(index)),
  );
}

/** A finalizer without a slash must be well-known. */
export function validateStandardFinalizer(name: string, fieldPath: FieldPath): FieldError[] {
  if (name.includes('/')) return [];
  const standard = [dialect().word, 'orphan', 'foregroundDeletion'];
  return standard.includes(name)
    ? []
    : [
        fieldError.invalid(
          fieldPath,
          name,
          'name is neither a standard finalizer name nor is it fully qualified',
        ),
      ];
}

function validateNoNewFinalizers(
  meta: ObjectMeta,
  old: ObjectMeta,
  fieldPath: FieldPath,
): FieldError[] {
  const known = new Set(old.finalizers ?? []);
  const added = [...new Set((meta.finalizers ?? []).filter((name) => !known.has(name)))].sort();
  return added.length === 0
    ? []
    : [
        fieldError.forbidden(
          fieldPath,
          `no new finalizers can be added if the object is being deleted, found new finalizers ${stringList(added).text}`,
        ),
      ];
}

function validateManagedFields(
  entries: readonly ManagedFieldsEntry[],
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, entry] of entries.entries()) {
    const field = fieldPath.index(index);
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
const notPrintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

/** Also validates the `fieldManager` parameter of requests. */
export function validateFieldManager(manager: string, fieldPath: FieldPath): FieldError[] {
  if (Buffer.byteLength(manager) > fieldManagerLengthMax) {
    return [fieldError.tooLong(fieldPath, fieldManagerLengthMax)];
  }
  const found = notPrintable.exec(manager);
  if (!found) return [];
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const position = [...manager.slice(0, found.index)].length;
  return [
    fieldError.invalid(fieldPath, manager, `invalid character U+${code} (at position ${position})`),
  ];
}
