/** Roles and bindings that are large, odd or contradictory, on a complete server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const rbac = '/apis/rbac.authorization.orch.io/v1';
const apiGroup = 'rbac.authorization.orch.io';
const ruleCount = 10_000;

let server: RunningServer;

beforeAll(async () => {
  server = await RunningServer.start([], { users: ['ann', 'bob'] });
});

afterAll(() => server.stop());

/** Whether the server allows the user a `get`, after every earlier write. */
async function mayGet(user: string, resource: string, name = ''): Promise<boolean> {
  const review = await server.must('POST', '/apis/authorization.orch.io/v1/subjectaccessreviews', {
    spec: { user, resourceAttributes: { verb: 'get', resource, name, namespace: 'default' } },
  });
  return review.status.allowed;
}

const bind = (role: string, user: string) =>
  server.must('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: `${role}-${user}` },
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup, kind: 'User', name: user }],
  });

/** Sends bytes as they are, as JSON. */
const sendText = (method: string, path: string, text: string) =>
  server.call(method, path, {
    body: Buffer.from(text),
    headers: { 'content-type': 'application/json' },
  });

describe('a role with 10,000 rules', () => {
  it('is stored, decides by its last rule, and denies everything else', async () => {
    const rules = Array.from({ length: ruleCount }, (_, index) => ({
      verbs: ['get'],
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: [`config-${index}`],
    }));
    await server.must('POST', `${rbac}/clusterroles`, { metadata: { name: 'large' }, rules });
    await bind('large', 'ann');
    await expect.poll(() => mayGet('ann', 'configmaps', `config-${ruleCount - 1}`)).toBe(true);
    expect(await mayGet('ann', 'configmaps', `config-${ruleCount}`)).toBe(false);
    expect(await mayGet('ann', 'secrets', 'config-1')).toBe(false);
    expect(await mayGet('bob', 'configmaps', 'config-1')).toBe(false);
    const headers = { authorization: 'Bearer ann' };
    const path = '/api/v1/namespaces/default/configmaps/config-9999';
    expect((await server.call('GET', path, { headers })).code).toBe(404);
    const spec = { namespace: 'default' };
    const listed = await server.call(
      ...['POST', '/apis/authorization.orch.io/v1/selfsubjectrulesreviews'],
      { body: { spec }, headers },
    );
    expect(listed.code).toBe(201);
    expect(listed.body.status.resourceRules.length).toBeGreaterThanOrEqual(ruleCount);
  }, 60_000);

  it('cannot be bound by a user who does not hold every rule', async () => {
    await server.must('POST', `${rbac}/clusterroles`, {
      metadata: { name: 'binder' },
      rules: [{ verbs: ['create'], apiGroups: [apiGroup], resources: ['clusterrolebindings'] }],
    });
    await bind('binder', 'bob');
    const binding = {
      metadata: { name: 'own' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'large' },
      subjects: [{ apiGroup, kind: 'User', name: 'bob' }],
    };
    const attempt = () =>
      server.call('POST', `${rbac}/clusterrolebindings`, { body: binding, token: 'bob' });
    await expect
      .poll(async () => (await attempt()).body.message)
      .toContain('is attempting to grant RBAC permissions not currently held');
    expect((await attempt()).code).toBe(403);
    expect(await mayGet('bob', 'configmaps', 'config-1')).toBe(false);
  }, 60_000);
});

describe('a role with odd fields', () => {
  it('grants only what its known fields name', async () => {
    const text = `{"metadata":{"name":"odd"},"unknown":{"verbs":["*"]},"rules":[
      {"verbs":["get"],"apiGroups":[""],"resources":["pods"],"allow":"*","Resources":["secrets"]}]}`;
    expect((await sendText('POST', `${rbac}/clusterroles`, text)).code).toBe(201);
    await bind('odd', 'odd-user');
    await expect.poll(() => mayGet('odd-user', 'pods')).toBe(true);
    expect(await mayGet('odd-user', 'secrets')).toBe(false);
    const stored = await server.must('GET', `${rbac}/clusterroles/odd`);
    expect(stored.rules).toEqual([{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]);
  });

  it('decides as it is stored if a field is repeated', async () => {
    const text = `{"metadata":{"name":"twice"},"rules":[
      {"verbs":["get"],"apiGroups":[""],"resources":["secrets"],"resources":["pods"]}]}`;
    expect((await sendText('POST', `${rbac}/clusterroles`, text)).code).toBe(201);
    const [rule] = (await server.must('GET', `${rbac}/clusterroles/twice`)).rules;
    await bind('twice', 'twice-user');
    await expect.poll(() => mayGet('twice-user', rule.resources[0])).toBe(true);
    expect(rule.resources).toHaveLength(1);
    for (const resource of ['pods', 'secrets']) {
      expect(await mayGet('twice-user', resource)).toBe(resource === rule.resources[0]);
    }
  });

  it.each([
    ['no list', '{"metadata":{"name":"x"},"rules":{}}', 400],
    ['a verb that is no text', '{"metadata":{"name":"x"},"rules":[{"verbs":[1]}]}', 400],
    ['no verb', '{"metadata":{"name":"x"},"rules":[{"apiGroups":[""],"resources":["pods"]}]}', 422],
    ['no resource', '{"metadata":{"name":"x"},"rules":[{"verbs":["get"],"apiGroups":[""]}]}', 422],
    [
      'paths in a namespace',
      '{"metadata":{"name":"x"},"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]}',
      422,
    ],
  ])('is refused with %s', async (_what, text, code) => {
    const path = `${rbac}/namespaces/default/roles`;
    expect((await sendText('POST', path, text)).code).toBe(code);
    expect((await server.call('GET', `${path}/x`)).code).toBe(404);
  });

  it('cannot change the role of a binding', async () => {
    const path = `${rbac}/clusterrolebindings/odd-odd-user`;
    const binding = await server.must('GET', path);
    const roleRef = { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' };
    const { code, body } = await server.call('PUT', path, { body: { ...binding, roleRef } });
    expect([code, body.message]).toEqual([422, expect.stringContaining('cannot change roleRef')]);
  });
});
