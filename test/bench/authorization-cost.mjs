/**
 * Measures what `Node,RBAC` costs a get and a create while 2,000 roles and 2,000 bindings are
 * present: short alternating rounds on one server, of an administrator, whose requests no rule is
 * read for, and of a user whose only matching role is bound last. Both have static tokens. Starts
 * of the same server differ by more than this cost, so that two servers could not be compared, and
 * several servers are measured one after the other. Flow control is off, because administrators are
 * exempt from it. `npm run bench -- authorization-cost`.
 */
import { Load } from './load.mjs';
import { comparison, pairedRounds } from './paired-rounds.mjs';
import { count, printRow } from './row.mjs';
import { ServerProcess } from './server-process.mjs';

const short = process.argv.includes('--short');
const roleCount = short ? 100 : 2_000;
const startCount = short ? 1 : 4;
const roundCount = short ? 2 : 30;
const runMs = short ? 100 : 250;
const connectionCount = 32;
const writeConcurrency = 32;
const namespace = 'bench';
const rbac = '/apis/rbac.authorization.orch.io/v1';
const apiGroup = 'rbac.authorization.orch.io';
const inNamespace = `${rbac}/namespaces/${namespace}`;
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
const checkedUser = { kind: 'User', name: 'checked', apiGroup };

/** Half of the roles and bindings are of the cluster. 10 are bound to the user, 10 to its team. */
function roleAndBinding(index) {
  const isOfCluster = index % 2 === 0;
  const kind = isOfCluster ? 'ClusterRole' : 'Role';
  const parent = isOfCluster ? `${rbac}/cluster` : `${inNamespace}/`;
  const name = `role-${index}`;
  const rules = [
    { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods', 'pods/log'] },
    { verbs: ['get', 'update'], apiGroups: ['apps'], resources: ['deployments', `kind-${index}`] },
  ];
  const others = [
    { kind: 'User', name: `user-${index}`, apiGroup },
    { kind: 'Group', name: `team-${index % 200}`, apiGroup },
  ];
  const subjects = index < 10 ? [...others, checkedUser] : others;
  return [
    [`${parent}roles`, { metadata: { name }, rules }],
    [`${parent}rolebindings`, { metadata: { name }, roleRef: { apiGroup, kind, name }, subjects }],
  ];
}

async function fill(server) {
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
  const name = 'configmaps';
  const rules = [{ verbs: ['get', 'create'], apiGroups: [''], resources: ['configmaps'] }];
  await server.call('POST', `${inNamespace}/roles`, { metadata: { name }, rules });
  await server.call('POST', `${inNamespace}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup, kind: 'Role', name },
    subjects: [{ kind: 'Group', name: 'last', apiGroup }],
  });
  const data = { payload: 'x'.repeat(900) };
  await server.call('POST', configMaps, { metadata: { name: 'one' }, data });
}

async function run({ server, load }, what) {
  const before = server.cpuUs();
  const { requestCount, seconds } = await load.run('load', {
    ...{ connectionCount, requestsMin: 0, runMs },
    ...what,
  });
  return { perSecond: requestCount / seconds, cpuUs: (server.cpuUs() - before) / requestCount };
}

const loads = {
  'get 1.2 KB': { request: { path: `${configMaps}/one` } },
  'create 1 KB': { create: namespace },
};

/** The rounds of each load on a new server. */
async function measureServer() {
  const server = new ServerProcess([
    '--authorization-mode=Node,RBAC',
    '--enable-priority-and-fairness=false',
  ]);
  server.users = ['checked,checked,checked,"team-0,last"'];
  const users = { old: server.token, new: 'checked' };
  const sides = {};
  try {
    await server.start();
    await fill(server);
    for (const [side, token] of Object.entries(users)) {
      const load = new Load({ port: server.port, token, prefix: side });
      sides[side] = { server, load };
      await load.ready;
    }
    const rounds = {};
    for (const [name, what] of Object.entries(loads)) {
      rounds[name] = await pairedRounds(sides, (side) => run(side, what), roundCount);
    }
    return rounds;
  } finally {
    for (const { load } of Object.values(sides)) await load.stop();
    await server.stop();
  }
}

const percent = (ratio) => `${((ratio - 1) * 100).toFixed(1)}%`;

function print(name, servers) {
  const cpu = comparison(servers.flat(), 'cpuUs', false);
  const rate = comparison(servers.flat(), 'perSecond', true);
  const starts = servers.map((rounds) => percent(comparison(rounds, 'cpuUs', false).ratio));
  printRow(
    `${name}, cost of Node,RBAC`,
    `${percent(cpu.ratio)} CPU`,
    `95%: ${percent(cpu.low)} to ${percent(cpu.high)}, single servers ${starts.join(' ')}; ` +
      `best rounds ${cpu.old.toFixed(1)} to ${cpu.new.toFixed(1)} us, ` +
      `${count(rate.old)}/s to ${count(rate.new)}/s`,
  );
}

const measured = [];
while (measured.length < startCount) measured.push(await measureServer());
printRow('roles and bindings present', count(roleCount), `${startCount} servers`);
for (const name of Object.keys(loads)) {
  print(
    name,
    measured.map((rounds) => rounds[name]),
  );
}
