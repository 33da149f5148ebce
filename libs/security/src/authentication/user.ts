/** Who makes a request. All values are opaque here; only authorization reads meaning into them. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Its members may do everything, and are never made to wait. */
export const privilegedGroup = 'system:masters';

export const anonymousUser: User = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: {},
};

/**
 * Whom a token webhook accepts without naming a user. The user has no group, and no request of it
 * is allowed.
 */
export const unnamedUser: User = { name: '', uid: '', groups: [], extra: {} };

/** The groups of every service account in the namespace. */
export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/** A user who has proven who they are belongs to `system:authenticated`. */
export function authenticated(
  name: string,
  uid: string,
  groups: readonly string[],
  extra: Readonly<Record<string, readonly string[]>> = {},
): User {
  const all = groups.includes('system:authenticated')
    ? [...groups]
    : [...groups, 'system:authenticated'];
  return { name, uid, groups: all, extra };
}
