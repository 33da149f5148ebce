/** ControllerRevision: an immutable snapshot of a controller's state. */
import {
  fieldError,
  immutable,
  parseApiVersion,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type { ControllerRevision } from '@orch/types/apps/v1';
import { define } from '../definition.js';
import { ageColumn, nameColumn, none } from '../shared/columns.js';
import { checkNotNegative } from '../shared/rules.js';

/** `statefulset.apps/web`; `<none>` if the revision has no controller. */
function controllerCell({ metadata }: ControllerRevision): string {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller);
  if (!owner) return none;
  const { group } = parseApiVersion(owner.apiVersion);
  return `${(group === '' ? owner.kind : `${owner.kind}.${group}`).toLowerCase()}/${owner.name}`;
}

export const controllerRevision = define<ControllerRevision>({
  plural: 'controllerrevisions',
  singular: '',
  kind: 'ControllerRevision',
  namespaced: true,
  versions: [{ group: 'apps', version: 'v1' }],
  stored: { group: 'apps', version: 'v1' },
  validate: ({ data, revision }) => [
    ...(data === undefined || data === null
      ? [fieldError.required(path('data'), 'data is mandatory')]
      : []),
    ...checkNotNegative(revision, path('revision')),
  ],
  validateUpdate: (object, old) =>
    semanticallyEqual(object.data, old.data) ? [] : [immutable(path('data'), object.data)],
  columns: [
    nameColumn(),
    {
      name: 'Controller',
      type: 'string',
      description: 'Controller of the revision.',
      cell: controllerCell,
    },
    {
      name: 'Revision',
      type: 'string',
      description: 'Number of the revision.',
      cell: (object) => object.revision ?? 0,
    },
    ageColumn(),
  ],
});
