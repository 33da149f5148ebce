import { systemFlowSchemas } from '@orch/api';
import { anonymousUser, authenticated } from '@orch/security';
import type {
  FlowSchema,
  NonResourcePolicyRule,
  ResourcePolicyRule,
  Subject,
} from '@orch/types/flowcontrol.apiserver/v1beta1';
import { describe, expect, it } from 'vitest';
import { parseRequestInfo } from '../http/request-info.js';
import { Classifier } from './classifier.js';
import { catchAllOf, nameOf, orderSchemas, planLevels } from './configuration.js';
import { flowRules } from './flow-rules.js';

const everything: ResourcePolicyRule = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  namespaces: ['*'],
  clusterScope: true,
};
const pods = '/api/v1/namespaces/n/pods';
const alice = authenticated('alice', '', ['dev']);

function matches(
  subject: Subject,
  rule: Partial<ResourcePolicyRule> | undefined,
  user = alice,
  [method, path]: readonly [string, string] = ['GET', pods],
  nonResourceRules: NonResourcePolicyRule[] = [],
): boolean {
  const resourceRules = rule ? [{ ...everything, ...rule }] : [];
  const rules = flowRules({
    spec: {
      priorityLevelConfiguration: { name: 'l' },
      rules: [{ subjects: [subject], resourceRules, nonResourceRules }],
    },
  });
  const info = parseRequestInfo(method, path, false);
  return rules.some((rule) => rule.isOf(user) && rule.matches(info));
}

const group = (name: string): Subject => ({ kind: 'Group', group: { name } });
const account = (namespace: string, name: string): Subject => ({
  kind: 'ServiceAccount',
  serviceAccount: { namespace, name },
});

describe('a rule of a flow schema', () => {
  const robot = authenticated('system:serviceaccount:ns:robot', '', []);
  it.each<[Subject, typeof alice, boolean]>([
    [{ kind: 'User', user: { name: 'alice' } }, alice, true],
    [{ kind: 'User', user: { name: '*' } }, alice, true],
    [{ kind: 'User', user: { name: 'bob' } }, alice, false],
    [{ kind: 'User' }, alice, false],
    [group('dev'), alice, true],
    [group('*'), alice, true],
    [group('ops'), alice, false],
    [account('ns', 'robot'), robot, true],
    [account('ns', '*'), robot, true],
    [account('n', '*'), robot, false],
    [account('ns', 'rob'), robot, false],
    [account('ns', '*'), alice, false],
  ])('with subject %j matches the user %o: %s', (subject, user, wanted) => {
    expect(matches(subject, {}, user)).toBe(wanted);
  });

  it.each<[Partial<ResourcePolicyRule>, string, string, boolean]>([
    [{ verbs: ['get', 'list'] }, 'GET', pods, true],
    [{ verbs: ['get'] }, 'GET', pods, false],
    [{ apiGroups: [''] }, 'GET', pods, true],
    [{ apiGroups: ['apps'] }, 'GET', pods, false],
    [{ resources: ['pods'] }, 'GET', `${pods}/p/status`, false],
    [{ resources: ['pods/status'] }, 'GET', `${pods}/p/status`, true],
    [{ namespaces: ['m'] }, 'GET', pods, false],
    [{ namespaces: ['n'], clusterScope: false }, 'GET', pods, true],
    [{ namespaces: ['n'] }, 'GET', '/api/v1/pods', true],
    [{ clusterScope: false }, 'GET', '/api/v1/pods', false],
    [{ namespaces: [] }, 'GET', '/api/v1/nodes', true],
    [{}, 'GET', '/healthz', false],
  ])('matches resources by %j: %s %s', (rule, method, path, wanted) => {
    expect(matches(group('*'), rule, alice, [method, path])).toBe(wanted);
  });

  it.each([
    ['/healthz', '/healthz', true],
    ['/healthz', '/healthz/etcd', true],
    ['/healthz', '/healthzz', false],
    ['/apis/*', '/apis/apps', true],
    ['/apis/*', '/api', false],
    ['/', '/metrics', true],
    ['*', '/metrics', true],
  ])('matches paths: %s %s', (url, path, wanted) => {
    const rule = { verbs: ['get'], nonResourceURLs: [url] };
    expect(matches(group('*'), undefined, alice, ['GET', path], [rule])).toBe(wanted);
    expect(matches(group('*'), undefined, alice, ['POST', path], [rule])).toBe(false);
    expect(matches(group('*'), undefined, alice, ['GET', pods], [rule])).toBe(false);
  });
});

function classify(schemas: readonly FlowSchema[]) {
  const objects = { schemas, levels: [] };
  const levels = ['system', 'leader-election', 'workload-high', 'workload-low', 'global-default'];
  const plans = planLevels(
    { schemas, levels: levels.map((name) => ({ metadata: { name }, spec: limited })) },
    [],
    600,
  );
  const ordered = orderSchemas(objects, plans);
  const active = ordered.map((schema) => ({ name: nameOf(schema), rules: flowRules(schema) }));
  const catchAll = active[ordered.indexOf(catchAllOf(ordered))]!;
  const classifier = new Classifier(active, catchAll);
  return (user: typeof alice, method: string, path: string) =>
    classifier.schemaOf(user, parseRequestInfo(method, path, false)).name;
}

const limited = { type: 'Limited', limited: { assuredConcurrencyShares: 10 } };

describe('a classifier', () => {
  const leases = '/apis/coordination.orch.io/v1/namespaces/orch-system/leases/l';
  const controllers = authenticated('system:orch-controller-manager', '', []);
  const node = authenticated('system:node:a', '', ['system:nodes']);
  const builder = authenticated('system:serviceaccount:n:builder', '', ['system:serviceaccounts']);
  const ofSystem = authenticated('system:serviceaccount:orch-system:job', '', [
    'system:serviceaccounts',
  ]);
  it.each([
    [authenticated('admin', '', ['system:masters']), 'GET', pods, 'exempt'],
    [node, 'GET', pods, 'system-nodes'],
    [controllers, 'PUT', leases, 'system-leader-election'],
    [controllers, 'GET', pods, 'orch-controller-manager'],
    [ofSystem, 'PUT', leases, 'system-leader-election'],
    [ofSystem, 'GET', pods, 'orch-system-service-accounts'],
    [builder, 'GET', pods, 'service-accounts'],
    [alice, 'POST', pods, 'global-default'],
    [alice, 'GET', '/apis', 'global-default'],
    [anonymousUser, 'GET', '/healthz', 'global-default'],
    [{ ...alice, groups: [] }, 'GET', pods, 'catch-all'],
  ])('selects the suggested schemas for %o %s %s', (user, method, path, wanted) => {
    const schemaOf = classify(systemFlowSchemas());
    expect(schemaOf(user, method, path)).toBe(wanted);
    expect(schemaOf(user, method, path)).toBe(wanted);
  });

  it('orders schemas by precedence, then by name, and caches a user with their groups', () => {
    const schema = (name: string, matchingPrecedence: number, who: string): FlowSchema => ({
      metadata: { name },
      spec: {
        priorityLevelConfiguration: { name: 'workload-low' },
        matchingPrecedence,
        rules: [{ subjects: [group(who)], resourceRules: [everything] }],
      },
    });
    const schemaOf = classify([
      schema('z', 5, 'dev'),
      schema('b', 7, 'ops'),
      schema('a', 7, 'ops'),
      { ...schema('lost', 2, '*'), spec: { priorityLevelConfiguration: { name: 'none' } } },
    ]);
    expect(schemaOf(alice, 'GET', pods)).toBe('z');
    expect(schemaOf({ ...alice, groups: ['ops'] }, 'GET', pods)).toBe('a');
    expect(schemaOf({ ...alice, groups: ['dev', 'ops'] }, 'GET', pods)).toBe('z');
    expect(schemaOf({ ...alice, groups: ['dev', 'ops'] }, 'GET', '/apis')).toBe('catch-all');
  });
});
