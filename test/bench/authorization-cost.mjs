/**
 * Measures what authorization costs a get and a create: two servers with the same 2,000 roles and
 * 2,000 bindings, one with `Node,RBAC` and one with `AlwaysAllow`, and the same service account.
 * The servers alternate in each round, so that the load of the machine affects both alike; the
 * median of the ratios of the rounds counts. `npm run bench -- authorization-cost`.
 */
import { Load } from './load.mjs';
import { count, median, printRow } from './row.mjs';
import { ServerProcess } from './server-process.mjs';

const short = process.argv.includes('--short');
const roleCount = short ? 100 : 2_000;
const roundCount = short ? 2 : 9;
const runMs = short ? 300 : 3_000;
const requestsMin = short ? 100 : 3_000;
const connectionCount = 32;
const writeConcurrency = 32;
const namespace = 'bench';
const rbac = '/apis/rbac.authorization.orch.io/v1';
const apiGroup = 'rbac.authorization.orch.io';
const account = { kind: 'ServiceAccount', name: 'bench', namespace };

/** Half of the roles and bindings are of the cluster; 10 of them are bound to the account. */
function roleAndBinding(index) {
  const isOfCluster = index % 2 === 0;
  const kind = isOfCluster ? 'ClusterRole' : 'Role';
  const parent = isOfCluster ? `${rbac}/cluster` : `${rbac}/namespaces/${namespace}/`;
  const name = `role-${index}`;
  const rules = [
    { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods', 'pods/log'] },
    { verbs: ['get', 'update'], apiGroups: ['apps'], resources: ['deployments', `kind-${index}`] },
  ];
  const others = [
    { kind: 'User', name: `user-${index}`, apiGroup },
    { kind: 'Group', name: `team-${index % 200}`, apiGroup },
  ];
  const subjects = index < 10 ? [...others, account] : others;
  return [
    [`${parent}roles`, { metadata: { name }, rules }],
    [`${parent}rolebindings`, { metadata: { name }, roleRef: { apiGroup, kind, name }, subjects }],
  ];
}

/** The objects of a server, its load generator and the path of the object to get. */
async function prepare(mode) {
  const server = new ServerProcess([`--authorization-mode=${mode}`]);
  await server.start();
  await server.createNamespace(namespace);
  const writes = Array.from({ length: roleCount }, (_, index) => roleAndBinding(index));
  for (let from = 0; from < roleCount; from += writeConcurrency) {
    await Promise.all(
      writes.slice(from, from + writeConcurrency).map(async ([role, binding]) => {
        await server.call('POST', ...role);
        await server.call('POST', ...binding);
      }),
    );
  }
  const inNamespace = `${rbac}/namespaces/${namespace}`;
  const rules = [{ verbs: ['get', 'create'], apiGroups: [''], resources: ['configmaps'] }];
  await server.call('POST', `${inNamespace}/roles`, { metadata: { name: 'bench' }, rules });
  await server.call('POST', `${inNamespace}/rolebindings`, {
    metadata: { name: 'zz-bench' },
    roleRef: { apiGroup, kind: 'Role', name: 'bench' },
    subjects: [account],
  });
  const core = `/api/v1/namespaces/${namespace}`;
  await server.call('POST', `${core}/serviceaccounts`, { metadata: { name: 'bench' } });
  const token = await server.call('POST', `${core}/serviceaccounts/bench/token`, { spec: {} });
  const path = `${core}/configmaps`;
  await server.call('POST', path, {
    metadata: { name: 'one' },
    data: { payload: 'x'.repeat(900) },
  });
  const load = new Load({ port: server.port, token: JSON.parse(token).status.token });
  await load.ready;
  return { server, load, path: `${path}/one` };
}

async function stop({ server, load }) {
  load.stop();
  await server.stop();
}

async function run({ server, load }, what) {
  const before = server.cpuUs();
  const { requestCount, seconds } = await load.run('load', {
    ...{ connectionCount, requestsMin, runMs },
    ...what,
  });
  return {
    cpuUs: (server.cpuUs() - before) / requestCount,
    perSecond: requestCount / seconds,
  };
}

/** Runs both servers in each round; the one that starts alternates. */
async function compare(name, checked, unchecked, whatOf) {
  await run(checked, whatOf(checked));
  await run(unchecked, whatOf(unchecked));
  const rounds = [];
  for (let round = 0; round < roundCount; round += 1) {
    const order = round % 2 === 0 ? [checked, unchecked] : [unchecked, checked];
    const measured = new Map();
    for (const side of order) measured.set(side, await run(side, whatOf(side)));
    rounds.push({ checked: measured.get(checked), unchecked: measured.get(unchecked) });
  }
  const cost = median(rounds.map((round) => round.checked.cpuUs / round.unchecked.cpuUs - 1));
  const slowdown = median(
    rounds.map((round) => round.unchecked.perSecond / round.checked.perSecond - 1),
  );
  const middle = (side, figure) => median(rounds.map((round) => round[side][figure]));
  printRow(
    `${name}, cost of Node,RBAC`,
    `${(cost * 100).toFixed(1)}% CPU`,
    `${(slowdown * 100).toFixed(1)}% time; ${middle('checked', 'cpuUs').toFixed(0)} and ${middle('unchecked', 'cpuUs').toFixed(0)} us, ${count(middle('checked', 'perSecond'))}/s and ${count(middle('unchecked', 'perSecond'))}/s, median of ${roundCount} rounds`,
  );
}

let checked;
let unchecked;
try {
  checked = await prepare('Node,RBAC');
  unchecked = await prepare('AlwaysAllow');
  printRow('roles and bindings present', count(roleCount), 'on both servers');
  await compare('get 1.2 KB', checked, unchecked, ({ path }) => ({ request: { path } }));
  await compare('create 1 KB', checked, unchecked, () => ({ create: namespace }));
} finally {
  if (checked) await stop(checked);
  if (unchecked) await stop(unchecked);
}
