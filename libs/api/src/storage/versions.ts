/** Versions of the kinds of the group. */
import type { ServedVersion } from '../definition.js';
import { replacedBy } from '../shared/versions.js';

/** A version with the stored shape. */
type SameShape = Pick<ServedVersion, 'group' | 'version' | 'deprecation'>;

export const storageGroup = 'storage';

/** v1, and the v1beta1 that it replaces. */
export function storageVersions(kind: string, betaSince: string): readonly SameShape[] {
  return [
    { group: storageGroup, version: 'v1' },
    {
      group: storageGroup,
      version: 'v1beta1',
      deprecation: replacedBy(storageGroup, 'v1', kind, {
        since: betaSince,
        unavailableFrom: '1.22',
      }),
    },
  ];
}

/** v1alpha1, replaced by another version with the same shape. */
export function alphaVersion(kind: string, successor: string): SameShape {
  return {
    group: storageGroup,
    version: 'v1alpha1',
    deprecation: replacedBy(storageGroup, successor, kind, {
      since: '1.21',
      unavailableFrom: '1.24',
    }),
  };
}
