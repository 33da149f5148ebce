import { expect, it } from 'vitest';
import { authenticated } from '../authentication/user.js';
import type { Attributes } from './attributes.js';
import {
  authenticatedUsers,
  clusterAdministration,
  openPathReads,
} from './authenticated-authorizer.js';
import {
  type Authorizer,
  allow,
  deny,
  enforce,
  noOpinion,
  unionOfAuthorizers,
} from './authorizer.js';
import { privilegedUsers } from './privileged-users.js';

const request = {
  isResource: false,
  verb: 'get',
  path: '/version',
  group: '',
  version: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
};

function attributes(path: string, ...groups: string[]): Attributes {
  const user = { name: 'u', uid: '', groups, extra: {} };
  return { user, info: { ...request, path } };
}

const always =
  (decision: Awaited<ReturnType<Authorizer>>): Authorizer =>
  async () =>
    decision;

it('union returns the first decision that allows or denies', async () => {
  const union = unionOfAuthorizers([always(noOpinion), always(deny), always(allow)]);
  expect((await union(attributes('/'))).verdict).toBe('deny');
});

it('union without a decision has no opinion and every reason', async () => {
  const because = (reason: string) => always({ ...noOpinion, reason });
  const union = unionOfAuthorizers([because('a'), always(noOpinion), because('b')]);
  expect(await union(attributes('/'))).toEqual({ verdict: 'no opinion', reason: 'a\nb' });
});

it('enforce throws 403 with the reason for anything but an allowed request', () => {
  const asked = attributes('/metrics');
  expect(() => enforce(allow, asked)).not.toThrow();
  expect(() => enforce({ ...noOpinion, reason: 'no role' }, asked)).toThrow(/no role/);
  expect(() => enforce(deny, asked)).toThrow(
    expect.objectContaining({ code: 403 }) as unknown as Error,
  );
});

it('allows administrators to change replicas, authenticated users everything else, and every user to read the version', async () => {
  const authorize = unionOfAuthorizers([
    privilegedUsers,
    clusterAdministration,
    authenticatedUsers,
    openPathReads,
  ]);
  const verdict = async (path: string, group: string) =>
    (await authorize(attributes(path, group))).verdict;
  expect(await verdict('/cluster/members', 'system:masters')).toBe('allow');
  expect(await verdict('/cluster/members', 'system:authenticated')).toBe('deny');
  expect(await verdict('/metrics', 'system:authenticated')).toBe('allow');
  expect(await verdict('/metrics', 'system:unauthenticated')).toBe('no opinion');
  expect(await verdict('/version', 'system:unauthenticated')).toBe('allow');
  expect(authenticated('u', '', []).groups).toContain('system:authenticated');
});
