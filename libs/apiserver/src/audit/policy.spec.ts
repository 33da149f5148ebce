import { authenticated } from '@orch/security';
import { describe, expect, it } from 'vitest';
import { parseRequestInfo } from '../http/request-info.js';
import { AuditPolicy } from './policy.js';
import { parseAuditPolicy } from './read-policy.js';

const pods = '/api/v1/namespaces/shop/pods';

/** The level of a request under one rule of level Metadata. */
function levelOf(rule: object, method: string, path: string, ...groups: string[]): string {
  const policy = new AuditPolicy({ rules: [{ level: 'Metadata', ...rule }] });
  const info = parseRequestInfo(method, path, false);
  return policy.decide(info, authenticated('ann', '', groups)).level;
}

describe('an audit rule', () => {
  it.each([
    [{}, 'GET', '/healthz'],
    [{ users: ['ann'] }, 'GET', pods],
    [{ userGroups: ['admins'] }, 'GET', pods],
    [{ verbs: ['list'] }, 'GET', pods],
    [{ namespaces: ['shop'] }, 'GET', pods],
    [{ namespaces: [''] }, 'GET', '/api/v1/nodes/n'],
    [{ resources: [{}] }, 'GET', pods],
    [{ resources: [{ group: 'apps' }] }, 'GET', '/apis/apps/v1/deployments'],
    [{ resources: [{ resources: ['pods'] }] }, 'GET', pods],
    [{ resources: [{ resources: ['pods/log'] }] }, 'GET', `${pods}/a/log`],
    [{ resources: [{ resources: ['pods/*'] }] }, 'GET', `${pods}/a/log`],
    [{ resources: [{ resources: ['*/log'] }] }, 'GET', `${pods}/a/log`],
    [{ resources: [{ resources: ['*'] }] }, 'GET', `${pods}/a/log`],
    [{ resources: [{ resources: ['pods'], resourceNames: ['a'] }] }, 'GET', `${pods}/a`],
    [{ nonResourceURLs: ['/healthz*'] }, 'GET', '/healthz/ping'],
    [{ nonResourceURLs: ['*'] }, 'GET', '/version'],
  ])('%j matches %s %s', (rule, method, path) => {
    expect(levelOf(rule, method, path, 'admins')).toBe('Metadata');
  });
  it.each([
    [{ users: ['bob'] }, 'GET', pods],
    [{ userGroups: ['others'] }, 'GET', pods],
    [{ verbs: ['get'] }, 'GET', pods],
    [{ namespaces: ['yard'] }, 'GET', pods],
    [{ namespaces: [''] }, 'GET', '/version'],
    [{ resources: [{ group: 'apps' }] }, 'GET', pods],
    [{ resources: [{ resources: ['pods'] }] }, 'GET', `${pods}/a/log`],
    [{ resources: [{ resources: ['pods/log'] }] }, 'GET', `${pods}/a`],
    [{ resources: [{ resources: ['pods'], resourceNames: ['a'] }] }, 'GET', `${pods}/b`],
    [{ nonResourceURLs: ['/healthz'] }, 'GET', '/healthz/ping'],
    [{ nonResourceURLs: ['*'] }, 'GET', pods],
  ])('%j does not match %s %s', (rule, method, path) => {
    expect(levelOf(rule, method, path, 'admins')).toBe('None');
  });
  it('applies if it is the first that matches, with its stages and those of the policy', () => {
    const policy = new AuditPolicy({
      omitStages: ['RequestReceived'],
      rules: [
        { level: 'None', users: ['bob'] },
        { level: 'Request', omitStages: ['Panic'] },
        { level: 'RequestResponse' },
      ],
    });
    const info = parseRequestInfo('GET', pods, false);
    const { level, omitStages } = policy.decide(info, undefined);
    expect([level, ...omitStages]).toEqual(['Request', 'RequestReceived', 'Panic']);
    expect(policy.decide(info, authenticated('bob', '', [])).level).toBe('None');
  });
});

describe('a policy file', () => {
  const file = (rest: string, version = 'v1') =>
    `apiVersion: audit.orch.io/${version}\nkind: Policy\n${rest}`;

  it.each(['v1', 'v1beta1', 'v1alpha1'])('is read in version %s', (version) => {
    const text = file('rules:\n- level: Metadata\n  resources:\n  - group: apps\n', version);
    expect(parseAuditPolicy(text, 'p').rules).toEqual([
      { level: 'Metadata', resources: [{ group: 'apps' }] },
    ]);
  });
  it.each([
    ['rules: []', 'rules: at least one is required'],
    ['rules: [{level: All}]', 'rules[0].level: must be one of'],
    ['rules: [{level: None, verb: get}]', 'unknown fields rules[0].verb'],
    ['rules: [{level: None}]\nomitStages: [Later]', 'omitStages: Later must be one of'],
    ['rules: [{level: None, nonResourceURLs: [healthz]}]', 'must begin with /'],
    ['rules: [{level: None, nonResourceURLs: [/a*b]}]', 'have * only at its end'],
    ['rules: [{level: None, nonResourceURLs: [/a], namespaces: [b]}]', 'not both'],
    ['rules: [{level: None, resources: [{group: apps/v1}]}]', '"apps/v1" is not a group name'],
    ['rules: [{level: None, resources: [{resourceNames: [a]}]}]', 'resourceNames need resources'],
    ['rules: {', 'audit policy p: '],
  ])('rejects %j', (rest, message) => {
    expect(() => parseAuditPolicy(file(rest), 'p')).toThrow(message);
  });
  it('is rejected if it is of another kind', () => {
    expect(() => parseAuditPolicy('kind: Policy\napiVersion: v1\n', 'p')).toThrow(
      'not a Policy of',
    );
    expect(() => parseAuditPolicy('', 'p')).toThrow('not a Policy of');
  });
});
