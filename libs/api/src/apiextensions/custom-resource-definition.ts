/** CustomResourceDefinition: a kind that clients define. */
import { semanticallyEqual } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type * as v1 from '@orch/types/apiextensions/v1';
import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1beta1';
import { define } from '../definition.js';
import { createdAtColumn, nameColumn } from '../shared/columns.js';
import { countGeneration } from '../shared/generation.js';
import { replacedBy } from '../shared/versions.js';
import { emptyStatus, setCondition, statusOf, storageVersionOf } from './conditions.js';
import { fromV1, toV1 } from './conversion.js';
import { createErrors, statusErrors, updateErrors, validateDefinitionName } from './validation.js';

type EitherDefinition = v1.CustomResourceDefinition | CustomResourceDefinition;

/** The finalizer that holds a definition until its objects are deleted. */
export function cleanupFinalizer(): string {
  return `customresourcecleanup.${dialect().group('apiextensions')}`;
}

function setNameDefaults({ spec, status }: EitherDefinition): void {
  const { names } = spec;
  if (names?.kind) {
    names.singular ||= names.kind.toLowerCase();
    names.listKind ||= `${names.kind}List`;
  }
  const storage = spec.versions?.find((version) => version.storage);
  if (storage && status && !status.storedVersions?.length) status.storedVersions = [storage.name];
}

/** Synchronises the fields that the older version mirrors. */
function setOlderDefaults(object: CustomResourceDefinition): void {
  const { spec } = object;
  if (!spec.scope) spec.scope = 'Namespaced';
  if (!spec.versions?.length && spec.version) {
    spec.versions = [{ name: spec.version, served: true, storage: true }];
  }
  const first = spec.versions?.[0]?.name;
  if (!spec.version && first) spec.version = first;
  const { conversion } = spec;
  if (conversion?.strategy === 'Webhook' && !conversion.conversionReviewVersions?.length) {
    conversion.conversionReviewVersions = ['v1beta1'];
  }
  setNameDefaults(object);
}

/** The body of a request may have no spec. */
function withSpec<T extends EitherDefinition>(definition: T): T {
  definition.spec ??= {} as T['spec'];
  return definition;
}

function addStoredVersion(object: CustomResourceDefinition): void {
  const status = statusOf(object);
  const storage = storageVersionOf(object);
  if (storage === undefined || status.storedVersions?.includes(storage)) return;
  status.storedVersions = [...(status.storedVersions ?? []), storage];
}

export const customResourceDefinition = define<CustomResourceDefinition>({
  plural: 'customresourcedefinitions',
  singular: '',
  kind: 'CustomResourceDefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  versions: [
    {
      group: 'apiextensions',
      version: 'v1',
      setDefaults: (object: v1.CustomResourceDefinition) => setNameDefaults(withSpec(object)),
      toStored: (object: v1.CustomResourceDefinition) => fromV1(withSpec(object)),
      fromStored: (object) => toV1(object),
    },
    {
      group: 'apiextensions',
      version: 'v1beta1',
      setDefaults: (object: CustomResourceDefinition) => setOlderDefaults(withSpec(object)),
      deprecation: replacedBy('apiextensions', 'v1', 'CustomResourceDefinition', {
        since: '1.16',
        unavailableFrom: '1.22',
      }),
    },
  ],
  stored: { group: 'apiextensions', version: 'v1beta1' },
  hasGeneration: true,
  unconditionalUpdate: false,

  prepareForCreate(object) {
    object.status = emptyStatus();
    addStoredVersion(object);
  },
  prepareForUpdate(object, old) {
    if (old.status) object.status = { ...old.status };
    if (!semanticallyEqual(object.spec, old.spec)) countGeneration(object);
    addStoredVersion(object);
  },
  validateName: validateDefinitionName,
  strictFinalizers: false,
  validateCreate: createErrors,
  updateChecks: ['metadataUpdate', 'update'],
  validateUpdate: updateErrors,

  cleanupFinalizer,
  prepareForDelete(object, { now }) {
    const finding = {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'the definition is marked for deletion: its objects go first',
    };
    setCondition(statusOf(object), finding, now);
  },

  status: {
    resetFields: ['metadata', 'spec'],
    validateUpdate: ({ status }) => statusErrors(status),
  },

  columns: [nameColumn(), createdAtColumn()],
});
