/**
 * Namespace: a scope for names. Deletion has two steps: the namespace becomes Terminating, and it
 * is removed when the namespace controller has deleted its content and the finalizers in its spec.
 */
import {
  checkQualifiedName,
  type FieldError,
  type FieldPath,
  labelName,
  path,
  validateStandardFinalizer,
} from '@orch/apimachinery';
import { dialect, type Features } from '@orch/component';
import type { Namespace } from '@orch/types/core/v1';
import { define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { invalidEach } from '../shared/rules.js';

function setNameLabel(object: Namespace, features: Features): void {
  if (!features.enabled('NamespaceDefaultLabelName')) return;
  const name = object.metadata?.name;
  if (!object.metadata || !name) return;
  object.metadata.labels = { ...object.metadata.labels, [dialect().key('metadata.name')]: name };
}

const finalizersAt = path('spec', 'finalizers');

function validateFinalizer(name: string, fieldPath: FieldPath): FieldError[] {
  return [
    ...invalidEach(fieldPath, name, checkQualifiedName(name)),
    ...validateStandardFinalizer(name, fieldPath),
  ];
}

/** Errors name the list. */
function validateFinalizers(object: Namespace): FieldError[] {
  return (object.spec?.finalizers ?? []).flatMap((name) => validateFinalizer(name, finalizersAt));
}

export const namespace = define<Namespace>({
  plural: 'namespaces',
  singular: '',
  kind: 'Namespace',
  shortNames: ['ns'],
  namespaced: false,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  versions: [{ group: 'core', version: 'v1', setDefaults: setNameLabel }],
  stored: { group: 'core', version: 'v1' },
  validateName: labelName,

  prepareForCreate(object) {
    object.status = { phase: 'Active' };
    const finalizers = object.spec?.finalizers ?? [];
    const { word } = dialect();
    object.spec = {
      finalizers: finalizers.includes(word) ? finalizers : [...finalizers, word],
    };
  },
  // A generated name did not exist when defaults were set.
  prepareNamed: (object, _before, { features }) => setNameLabel(object, features),
  prepareForUpdate(object, old, context) {
    object.spec = { ...object.spec, finalizers: old.spec?.finalizers ?? [] };
    object.status = old.status;
    setNameLabel(object, context.features);
  },
  validate: validateFinalizers,
  updateChecks: ['metadata', 'object', 'metadataUpdate', 'update'],

  prepareForDelete(object) {
    if ((object.spec?.finalizers?.length ?? 0) > 0) {
      object.status = { ...object.status, phase: 'Terminating' };
    }
  },
  specFinalizers: (object) => object.spec?.finalizers ?? [],

  columns: [
    nameColumn(),
    {
      name: 'Status',
      type: 'string',
      description: 'Phase of the namespace.',
      cell: (object) => object.status?.phase ?? '',
    },
    ageColumn(),
  ],
  selectableFields: { 'status.phase': (object) => object.status?.phase ?? '' },

  status: {
    prepareForUpdate(object, old, context) {
      object.spec = old.spec;
      setNameLabel(object, context.features);
    },
    validateUpdate(object) {
      const expected = object.metadata?.deletionTimestamp ? 'Terminating' : 'Active';
      const phase = object.status?.phase ?? '';
      const detail = object.metadata?.deletionTimestamp
        ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
        : "may only be 'Active' if `deletionTimestamp` is empty";
      return phase === expected ? [] : invalidEach(path('status', 'Phase'), phase, [detail]);
    },
  },
  finalize: {
    prepareForUpdate(object, old, context) {
      object.status = old.status;
      setNameLabel(object, context.features);
    },
    // Errors name the elements.
    validateUpdate: (object) =>
      (object.spec?.finalizers ?? []).flatMap((name, index) =>
        validateFinalizer(name, finalizersAt.index(index)),
      ),
  },
});
