import type { PolicyRule, Subject } from '@orch/types/rbac.authorization/v1';
import { describe, expect, it } from 'vitest';
import { authenticated, type User } from '../../authentication/user.js';
import { findingsKeyLengthMax, rememberedRulesMax } from '../../limits.js';
import type { RequestAttributes } from '../attributes.js';
import type { Decision } from '../authorizer.js';
import { rbacAuthorizer, rbacRules } from './rbac-authorizer.js';
import { RbacPolicy } from './rbac-policy.js';

const ann: Subject = { kind: 'User', name: 'ann' };
const dev: Subject = { kind: 'Group', name: 'dev' };
const robot: Subject = { kind: 'ServiceAccount', name: 'robot' };
const getPods: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };

function emptyPolicy(): RbacPolicy {
  const policy = new RbacPolicy();
  policy.isSynced = true;
  return policy;
}

function policyWith(...rules: PolicyRule[]): RbacPolicy {
  const policy = emptyPolicy();
  policy.setRole('', 'r', { rules });
  return policy;
}

function bind(
  policy: RbacPolicy,
  namespace: string,
  name: string,
  kind: string,
  ...subjects: Subject[]
) {
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind, name: 'r' };
  policy.setBinding(namespace, name, { roleRef, subjects });
}

function asking(asked: Partial<RequestAttributes>): RequestAttributes {
  return {
    isResource: true,
    verb: 'get',
    path: '',
    group: '',
    version: 'v1',
    namespace: 'ns',
    resource: 'pods',
    subresource: '',
    name: '',
    ...asked,
  };
}

const user = (name: string, ...groups: string[]) => authenticated(name, '', groups);
const decide = async (policy: RbacPolicy, who: User, asked: Partial<RequestAttributes> = {}) =>
  rbacAuthorizer(policy)({ user: who, info: asking(asked) });

it('allows a user, group or service account by a cluster binding and names the binding', async () => {
  const policy = policyWith(getPods);
  bind(policy, '', 'b', 'ClusterRole', ann, dev, { ...robot, namespace: 'ns' });
  const reason = (subject: string) =>
    `RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to ${subject}`;
  expect(await decide(policy, user('ann'))).toEqual({
    verdict: 'allow',
    reason: reason('User "ann"'),
  });
  expect((await decide(policy, user('bob', 'dev'))).reason).toBe(reason('Group "dev"'));
  expect((await decide(policy, user('system:serviceaccount:ns:robot'))).reason).toBe(
    reason('ServiceAccount "robot/ns"'),
  );
  expect(await decide(policy, user('bob'))).toEqual({ verdict: 'no opinion', reason: '' });
});

it('names the first subject of the binding that is the user', async () => {
  const policy = policyWith(getPods);
  bind(policy, '', 'b', 'ClusterRole', dev, ann);
  expect((await decide(policy, user('ann', 'dev'))).reason).toMatch(/to Group "dev"$/);
});

it('allows by a role binding in its namespace only', async () => {
  const policy = policyWith(getPods);
  bind(policy, 'ns', 'b', 'ClusterRole', ann, robot);
  expect((await decide(policy, user('ann'))).verdict).toBe('allow');
  expect((await decide(policy, user('system:serviceaccount:ns:robot'))).verdict).toBe('allow');
  expect((await decide(policy, user('ann'), { namespace: 'other' })).verdict).toBe('no opinion');
  expect((await decide(policy, user('ann'), { namespace: '' })).verdict).toBe('no opinion');
});

it.each<[string, PolicyRule, Partial<RequestAttributes>, boolean]>([
  ['a resource does not cover its subresources', getPods, { subresource: 'log' }, false],
  ['a subresource is named', { ...getPods, resources: ['pods/log'] }, { subresource: 'log' }, true],
  ['pods/* is no wildcard', { ...getPods, resources: ['pods/*'] }, { subresource: 'log' }, false],
  [
    '*/log covers it of any resource',
    { ...getPods, resources: ['*/log'] },
    { subresource: 'log' },
    true,
  ],
  ['*/log covers no resource', { ...getPods, resources: ['*/log'] }, {}, false],
  ['* covers subresources', { ...getPods, resources: ['*'] }, { subresource: 'log' }, true],
  ['another group is not covered', getPods, { group: 'apps' }, false],
  ['* covers every group', { ...getPods, apiGroups: ['*'] }, { group: 'apps' }, true],
  ['another verb is not covered', getPods, { verb: 'list' }, false],
  ['* covers every verb', { ...getPods, verbs: ['*'] }, { verb: 'odd' }, true],
  ['a name is covered', { ...getPods, resourceNames: ['a'] }, { name: 'a' }, true],
  ['another name is not', { ...getPods, resourceNames: ['a'] }, { name: 'b' }, false],
  ['no name is not covered by names', { ...getPods, resourceNames: ['a'] }, {}, false],
  ['* is no wildcard of names', { ...getPods, resourceNames: ['*'] }, { name: 'a' }, false],
])('matches rules: %s', async (_what, rule, asked, isAllowed) => {
  const policy = policyWith(rule);
  bind(policy, '', 'b', 'ClusterRole', ann);
  expect((await decide(policy, user('ann'), asked)).verdict === 'allow').toBe(isAllowed);
});

it.each([
  ['/logs/*', '/logs/a/b', true],
  ['/logs/**', '/logs/a', true],
  ['/logs/*', '/logs', false],
  ['/logs/*/a', '/logs/b/a', false],
  ['*', '/anything', true],
  ['/a', '/a/', false],
])('matches paths: %s and %s', async (url, path, isAllowed) => {
  const policy = policyWith({ verbs: ['get'], nonResourceURLs: [url] });
  bind(policy, '', 'b', 'ClusterRole', ann);
  const asked = { isResource: false, path, resource: '', namespace: '' };
  expect((await decide(policy, user('ann'), asked)).verdict === 'allow').toBe(isAllowed);
});

it('follows changes and removals of roles and bindings', async () => {
  const policy = policyWith(getPods);
  bind(policy, '', 'b', 'ClusterRole', ann);
  bind(policy, '', 'b', 'ClusterRole', dev);
  expect((await decide(policy, user('ann'))).verdict).toBe('no opinion');
  expect((await decide(policy, user('bob', 'dev'))).verdict).toBe('allow');
  policy.setRole('', 'r', { rules: [] });
  expect((await decide(policy, user('bob', 'dev'))).verdict).toBe('no opinion');
  policy.setRole('', 'r', { rules: [getPods] });
  policy.deleteBinding('', 'b');
  expect((await decide(policy, user('bob', 'dev'))).verdict).toBe('no opinion');
});

it('names missing roles in a denial, each once', async () => {
  const policy = emptyPolicy();
  bind(policy, '', 'a', 'ClusterRole', ann);
  bind(policy, '', 'b', 'ClusterRole', ann);
  expect((await decide(policy, user('ann'))).reason).toBe(
    'RBAC: clusterrole.rbac.authorization.orch.io "r" not found',
  );
  bind(policy, 'ns', 'c', 'Role', ann);
  expect((await decide(policy, user('ann'))).reason).toBe(
    'RBAC: [clusterrole.rbac.authorization.orch.io "r" not found, role.rbac.authorization.orch.io "r" not found]',
  );
});

it('rejects until the roles have been read, but not reads of health', async () => {
  const policy = new RbacPolicy();
  await expect(decide(policy, user('ann'))).rejects.toMatchObject({ code: 503 });
  const livez = { isResource: false, path: '/livez', namespace: '', resource: '' };
  expect((await decide(policy, user('ann'), livez)).verdict).toBe('allow');
});

it('lists the rules of a user in a namespace', async () => {
  const url: PolicyRule = { verbs: ['get'], nonResourceURLs: ['/a'] };
  const policy = policyWith(getPods, url);
  bind(policy, 'ns', 'b', 'ClusterRole', ann, dev);
  const rules = await rbacRules(policy)(user('ann', 'dev'), 'ns');
  expect(rules).toEqual({ resourceRules: [getPods], nonResourceRules: [url], incomplete: false });
});

describe('with one user object for several requests', () => {
  const who = user('ann', 'dev');

  it('decides by the current roles and bindings after each change', () => {
    const policy = policyWith(getPods);
    const authorize = rbacAuthorizer(policy);
    const verdict = () => (authorize({ user: who, info: asking({}) }) as Decision).verdict;
    expect(verdict()).toBe('no opinion');
    bind(policy, 'ns', 'b', 'ClusterRole', ann);
    expect(verdict()).toBe('allow');
    policy.deleteRole('', 'r');
    expect(verdict()).toBe('no opinion');
    policy.setRole('', 'r', { rules: [getPods] });
    expect(verdict()).toBe('allow');
    policy.deleteBinding('ns', 'b');
    expect(verdict()).toBe('no opinion');
  });

  it('decides about each name by the rules for it', () => {
    const policy = policyWith({ ...getPods, resourceNames: ['a'] });
    bind(policy, '', 'b', 'ClusterRole', ann);
    policy.setRole('ns', 'r', { rules: [{ ...getPods, resourceNames: ['c'] }] });
    bind(policy, 'ns', 'b', 'Role', ann, dev);
    const authorize = rbacAuthorizer(policy);
    const reason = (name: string) =>
      (authorize({ user: who, info: asking({ name }) }) as Decision).reason;
    for (let round = 0; round < 2; round += 1) {
      expect(reason('a')).toContain('ClusterRoleBinding "b"');
      expect(reason('c')).toMatch(/RoleBinding "b\/ns" .* to User "ann"$/);
      expect(reason('d')).toBe('');
    }
  });

  it('keeps apart requests whose values contain parts of each other', () => {
    const policy = policyWith({ ...getPods, resources: ['pods/x'] });
    bind(policy, 'a,b', 'b', 'ClusterRole', ann);
    const authorize = rbacAuthorizer(policy);
    const verdict = (asked: Partial<RequestAttributes>) =>
      (authorize({ user: who, info: asking(asked) }) as Decision).verdict;
    const allowed = { namespace: 'a,b', subresource: 'x' };
    expect(verdict(allowed)).toBe('allow');
    const others = [
      { namespace: 'a', resource: ',bpods', subresource: 'x' },
      { namespace: 'a,bp', resource: 'ods', subresource: 'x' },
      { namespace: 'a,b', resource: 'podsx', subresource: '' },
      { namespace: ',b', group: 'a', subresource: 'x' },
      { namespace: 'a,b', verb: 'geta', subresource: 'x' },
      { isResource: false, path: 'a,bpodsx', namespace: '', resource: '' },
    ];
    for (const other of others) expect(verdict(other)).toBe('no opinion');
    expect(verdict(allowed)).toBe('allow');
  });

  it('decides as before after more requests than are remembered', () => {
    const policy = policyWith(getPods);
    bind(policy, '', 'b', 'ClusterRole', ann);
    const authorize = rbacAuthorizer(policy);
    const verdict = (asked: Partial<RequestAttributes>) =>
      (authorize({ user: who, info: asking(asked) }) as Decision).verdict;
    for (let index = 0; index <= rememberedRulesMax; index += 1) {
      verdict({ namespace: `ns-${index}` });
    }
    expect(verdict({})).toBe('allow');
    expect(verdict({ namespace: 'n'.repeat(findingsKeyLengthMax) })).toBe('allow');
    expect(verdict({ resource: 'secrets' })).toBe('no opinion');
  });
});
