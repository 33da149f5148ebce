/**
 * Namespace: scope of names. It ends in two steps: marked as terminating, and gone when the finalizers in
 * its spec are gone, which the namespace's controller takes away after its content.
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

function validateFinalizer(name: string, at: FieldPath): FieldError[] {
  return [
    ...invalidEach(at, name, checkQualifiedName(name)),
    ...validateStandardFinalizer(name, at),
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
  // A generated name was not there when defaults were filled in.
  prepareNamed: (object, _before, { features }) => setNameLabel(object, features),
  prepareForUpdate(object, old, context) {
    object.spec = { ...object.spec, finalizers: old.spec?.finalizers ?? [] };
    object.status = old.status;
    setNameLabel(object, context.features);
  },
  validate: validateFinalizers,

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
      description: 'Whether the namespace is in use or on its way out.',
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
