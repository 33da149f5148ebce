/** Lease: who leads, and since when; also the heartbeat of nodes. */
import { type FieldError, fieldError, path } from '@orch/apimachinery';
import type { Lease } from '@orch/types/coordination/v1';
import { define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';
import { checkNotNegative } from '../shared/rules.js';

function validateLease(object: Lease): FieldError[] {
  const at = path('spec');
  const seconds = object.spec?.leaseDurationSeconds;
  return [
    ...(seconds !== undefined && seconds <= 0
      ? [fieldError.invalid(at.child('leaseDurationSeconds'), seconds, 'must be greater than 0')]
      : []),
    ...checkNotNegative(object.spec?.leaseTransitions, at.child('leaseTransitions')),
  ];
}

export const lease = define<Lease>({
  plural: 'leases',
  singular: '',
  kind: 'Lease',
  namespaced: true,
  versions: [
    { group: 'coordination', version: 'v1' },
    {
      group: 'coordination',
      version: 'v1beta1',
      deprecation: {
        since: '1.19',
        unavailableFrom: '1.22',
        use: { group: 'coordination', version: 'v1', kind: 'Lease' },
      },
    },
  ],
  stored: { group: 'coordination', version: 'v1' },
  validate: validateLease,
  createOnUpdate: true,
  unconditionalUpdate: false,
  columns: [
    nameColumn(),
    {
      name: 'Holder',
      type: 'string',
      description: 'Who holds the lease.',
      cell: (object) => object.spec?.holderIdentity ?? '',
    },
    ageColumn(),
  ],
});
