/** Versions in which the kinds of the group are served. */
import type { ServedVersion } from '../definition.js';
import { replacedBy } from '../shared/versions.js';

/** A version in the shape in which objects are stored. */
type SameShape = Pick<ServedVersion, 'group' | 'version' | 'deprecation'>;

export const storageGroup = 'storage';

/** v1, and v1beta1 that it replaces. */
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

/** v1alpha1, whose successor is another version of the same shape. */
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
