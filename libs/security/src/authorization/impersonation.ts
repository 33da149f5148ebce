/**
 * Impersonation: a request that acts as another user, named by its headers. The requester needs the
 * verb `impersonate` on the user or service account, on each group and on each extra value.
 */
import { badRequest, checkDns1123Label, checkDns1123Subdomain } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { headerText, unescapedKey } from '../authentication/header-text.js';
import { anonymousUser, serviceAccountGroups, type User } from '../authentication/user.js';
import type { RequestAttributes } from './attributes.js';

const prefix = 'impersonate-';
const userHeader = 'impersonate-user';
const groupHeader = 'impersonate-group';
const extraPrefix = 'impersonate-extra-';
const accountPrefix = 'system:serviceaccount:';
const authenticatedGroup = 'system:authenticated';
const unauthenticatedGroups = anonymousUser.groups;

export interface Impersonation {
  readonly user: User;
  /** What the requester must be allowed to do, all of it. */
  readonly required: readonly RequestAttributes[];
}

/** The part of a request that says whom it acts as. */
export interface ImpersonationHeaders {
  readonly headers: Readonly<Record<string, unknown>>;
  /** Alternating names and values, as sent. */
  readonly rawHeaders: readonly string[];
}

/** Undefined: the request acts as its own user. Throws 400 for groups or extra without a user. */
export function impersonationOf(request: ImpersonationHeaders): Impersonation | undefined {
  // Few requests impersonate; for the others only the header names are compared.
  for (const name in request.headers) if (name.startsWith(prefix)) return read(request.rawHeaders);
  return undefined;
}

function read(rawHeaders: readonly string[]): Impersonation | undefined {
  let name = '';
  const groups: string[] = [];
  const extra: Record<string, string[]> = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at]!.toLowerCase();
    if (!header.startsWith(prefix)) continue;
    const value = headerText(rawHeaders[at + 1] ?? '');
    if (header === userHeader) name ||= value;
    else if (header === groupHeader) groups.push(value);
    else if (header.startsWith(extraPrefix)) {
      const key = unescapedKey(header.slice(extraPrefix.length));
      extra[key] = [...(extra[key] ?? []), value];
    }
  }
  const hasDetails = groups.length > 0 || Object.keys(extra).length > 0;
  if (name !== '') return impersonation(name, groups, extra);
  if (hasDetails) throw badRequest('groups or extra values are impersonated without a user');
  return undefined;
}

function impersonation(
  name: string,
  groups: readonly string[],
  extra: Readonly<Record<string, readonly string[]>>,
): Impersonation {
  const account = accountOf(name);
  const required = [
    account
      ? permission({ resource: 'serviceaccounts', ...account })
      : permission({ resource: 'users', name }),
    ...groups.map((group) => permission({ resource: 'groups', name: group })),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) =>
        permission({
          group: dialect().group('authentication'),
          version: 'v1',
          resource: 'userextras',
          subresource: key,
          name: value,
        }),
      ),
    ),
  ];
  const own = groups.length > 0 ? groups : account ? serviceAccountGroups(account.namespace) : [];
  return { user: { name, uid: '', groups: withMembership(name, own), extra }, required };
}

/** Undefined: the name is not that of a service account. */
function accountOf(user: string): { namespace: string; name: string } | undefined {
  if (!user.startsWith(accountPrefix)) return undefined;
  const [namespace = '', name = '', ...more] = user.slice(accountPrefix.length).split(':');
  const isName =
    more.length === 0 &&
    checkDns1123Label(namespace).length === 0 &&
    checkDns1123Subdomain(name).length === 0;
  return isName ? { namespace, name } : undefined;
}

/** Every user is authenticated or not, unless the groups say so already. */
function withMembership(name: string, groups: readonly string[]): readonly string[] {
  if (name === anonymousUser.name) {
    return groups.includes(unauthenticatedGroups[0]!)
      ? groups
      : [...groups, ...unauthenticatedGroups];
  }
  const isSet = [authenticatedGroup, ...unauthenticatedGroups].some((group) =>
    groups.includes(group),
  );
  return isSet ? groups : [...groups, authenticatedGroup];
}

function permission(
  named: Pick<RequestAttributes, 'resource' | 'name'> & Partial<RequestAttributes>,
): RequestAttributes {
  return {
    isResource: true,
    verb: 'impersonate',
    path: '',
    group: '',
    version: '',
    namespace: '',
    subresource: '',
    ...named,
  };
}
