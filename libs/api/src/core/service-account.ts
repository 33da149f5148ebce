/** ServiceAccount: identity of the processes in pods. */
import type { ServiceAccount } from '@orch/types/core/v1';
import { define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';

/** Keeps only the names of secret references. */
function reduceSecrets(object: ServiceAccount): void {
  if (object.secrets) object.secrets = object.secrets.map(({ name }) => ({ name }));
}

export const serviceAccount = define<ServiceAccount>({
  plural: 'serviceaccounts',
  singular: '',
  kind: 'ServiceAccount',
  shortNames: ['sa'],
  namespaced: true,
  versions: [{ group: 'core', version: 'v1' }],
  stored: { group: 'core', version: 'v1' },
  prepareForCreate: reduceSecrets,
  prepareForUpdate: reduceSecrets,
  deleteReturnsObject: true,
  columns: [
    nameColumn(),
    {
      name: 'Secrets',
      type: 'string',
      description: 'Number of mountable secrets.',
      cell: (object) => object.secrets?.length ?? 0,
    },
    ageColumn(),
  ],
});
