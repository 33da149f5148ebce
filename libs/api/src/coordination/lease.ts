/** Lease: the current leader of a component; also the heartbeat of a node. */
import { type FieldError, fieldError, path } from '@orch/apimachinery';
import type { Lease } from '@orch/types/coordination/v1';
import { define } from '../definition.js';
import { ageColumn, nameColumn } from '../shared/columns.js';

function validateLease(object: Lease): FieldError[] {
  const fieldPath = path('spec');
  const seconds = object.spec?.leaseDurationSeconds;
  const transitions = object.spec?.leaseTransitions;
  return [
    ...(seconds !== undefined && seconds <= 0
      ? [
          fieldError.invalid(
            fieldPath.child('leaseDurationSeconds'),
            seconds,
            'must be greater than 0',
          ),
        ]
      : []),
    ...(transitions !== undefined && transitions < 0
      ? [
          fieldError.invalid(
            fieldPath.child('leaseTransitions'),
            transitions,
            'must to greater or equal than 0',
          ),
        ]
      : []),
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
  strictFinalizers: false,
  updateChecks: ['metadataUpdate', 'object'],
  createOnUpdate: true,
  unconditionalUpdate: false,
  columns: [
    nameColumn(),
    {
      name: 'Holder',
      type: 'string',
      description: 'Identity of the holder.',
      cell: (object) => object.spec?.holderIdentity ?? '',
    },
    ageColumn(),
  ],
});
