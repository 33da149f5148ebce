/**
 * Measures decisions by roles while 2,000 roles and 2,000 bindings are present, for users of three
 * kinds. `npm run bench -- authorization`.
 */
import { performance } from 'node:perf_hooks';
import {
  AbacPolicies,
  createAuthorization,
  NodeGraph,
  RbacPolicy,
} from '../../dist/libs/security/src/index.js';
import { count, printRow } from './row.mjs';

const roleCount = 2_000;
const namespaceCount = 50;
const decisionCount = process.argv.includes('--short') ? 2_000 : 200_000;
const roundCount = process.argv.includes('--short') ? 1 : 5;

const roleRef = (kind, name) => ({ apiGroup: 'rbac.authorization.orch.io', kind, name });
const namespaceOf = (index) => `ns-${index % namespaceCount}`;

/** Half of the roles and bindings are of the cluster, half of namespaces. */
function filledPolicy() {
  const policy = new RbacPolicy();
  policy.isSynced = true;
  for (let index = 0; index < roleCount; index += 1) {
    const isClusterWide = index % 2 === 0;
    const namespace = isClusterWide ? '' : namespaceOf(index);
    const kind = isClusterWide ? 'ClusterRole' : 'Role';
    policy.setRole(namespace, `role-${index}`, { rules: rulesOf(index) });
    policy.setBinding(namespace, `binding-${index}`, {
      roleRef: roleRef(kind, `role-${index}`),
      subjects: [
        { kind: 'User', name: `user-${index}` },
        { kind: 'Group', name: `team-${index % 200}` },
        {
          kind: 'ServiceAccount',
          name: `robot-${Math.floor(index / 500)}`,
          namespace: namespaceOf(index),
        },
      ],
    });
  }
  policy.setRole('', 'everything', {
    rules: [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ],
  });
  bindGroup(policy, 'everything', 'administrators');
  policy.setRole('', 'discovery', {
    rules: [
      { verbs: ['get'], nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*', '/version'] },
    ],
  });
  policy.setRole('', 'basic-user', {
    rules: [
      {
        verbs: ['create'],
        apiGroups: ['authorization.orch.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      },
    ],
  });
  bindGroup(policy, 'discovery', 'system:authenticated');
  bindGroup(policy, 'basic-user', 'system:authenticated');
  return policy;
}

function bindGroup(policy, role, group) {
  policy.setBinding('', `${role}-${group}`, {
    roleRef: roleRef('ClusterRole', role),
    subjects: [{ kind: 'Group', name: group }],
  });
}

function rulesOf(index) {
  return [
    { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods', 'pods/log'] },
    { verbs: ['get', 'update'], apiGroups: ['apps'], resources: ['deployments', `kind-${index}`] },
    {
      verbs: ['get', 'update', 'patch'],
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: [`config-${index}`],
    },
  ];
}

function user(name, ...groups) {
  return { name, uid: '', groups: [...groups, 'system:authenticated'], extra: {} };
}

const request = {
  isResource: true,
  verb: 'get',
  path: '/api/v1/namespaces/ns-1/pods/p',
  group: '',
  version: 'v1',
  namespace: 'ns-1',
  resource: 'pods',
  subresource: '',
  name: 'p',
};
const account = user(
  'system:serviceaccount:ns-1:robot-0',
  ...['system:serviceaccounts', 'system:serviceaccounts:ns-1'],
);

const cases = [
  ['administrator, allowed', user('ann', 'administrators'), { verb: 'delete' }, 'allow'],
  ['service account, allowed', account, {}, 'allow'],
  ['service account, denied', account, { resource: 'secrets' }, 'no opinion'],
  ['member of 5 teams, denied', member(5), { resource: 'secrets' }, 'no opinion'],
  ['user without a role, denied', user('eve', 'guests'), {}, 'no opinion'],
];

function member(teamCount) {
  const teams = Array.from({ length: teamCount }, (_, index) => `team-${index * 7}`);
  return user('bob', ...teams);
}

/** The best of several rounds, because other processes can only increase the time. */
async function measure(authorize, attributes) {
  let bestMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < roundCount; round += 1) {
    const startMs = performance.now();
    for (let index = 0; index < decisionCount; index += 1) await authorize(attributes);
    bestMs = Math.min(bestMs, performance.now() - startMs);
  }
  return bestMs;
}

const startMs = performance.now();
const policy = filledPolicy();
const fillMs = performance.now() - startMs;
const graph = new NodeGraph();
const { authorize } = createAuthorization(['Node', 'RBAC'], {
  policy,
  abacPolicies: new AbacPolicies([]),
  node: { graph: () => graph, rules: [] },
});
printRow('roles and bindings', count(roleCount), `indexed in ${fillMs.toFixed(0)} ms`);
for (const [title, who, asked, expected] of cases) {
  const attributes = { user: who, info: { ...request, ...asked } };
  const { verdict } = await authorize(attributes);
  if (verdict !== expected) throw new Error(`${title}: ${verdict}`);
  const ms = await measure(authorize, attributes);
  const detail = `${((ms * 1_000) / decisionCount).toFixed(2)} us each, Node,RBAC`;
  printRow(title, `${count((decisionCount * 1_000) / ms)}/s`, detail);
}
