/**
 * Starts an API server with a controller manager in each dialect and replays the recorded
 * behaviour of the controllers: the groups that `behaviour.json` lists, one folder of `behaviour`
 * each. Every scenario must pass, except those listed under `failing` with a reason; a listed one
 * that passes is a failure, because its reason no longer applies.
 *
 *   npm run build && node test/conformance/behaviour.mjs --only '^statefulset/'
 *
 * To add the group of a controller, add an entry to `behaviour.json`, sorted by name:
 *
 *   "horizontalpodautoscaling": {
 *     "flags": ["--horizontal-pod-autoscaler-sync-period=2s"],
 *     "failing": { "no-metrics": "metrics are not served yet" }
 *   }
 *
 * - `flags`: flags of the controller manager that the group needs. `<directory>` in a flag is a
 *   folder with `ca.crt` and `ca.key` (certificate authority of the cluster) and
 *   `service-account.key` (the key with which the API server signs tokens).
 * - `controllers`: controllers that are off by default, to run as well.
 * - `failing`: scenarios that fail, with the reason.
 *
 * The controller manager reaches the server through a proxy that refuses requests outside of
 * the discovery documents (`public-interface.mjs`); a refused request is a failure.
 *
 * The groups run together, against one controller manager with the flags of all of them. Scenarios
 * that fail are replayed once more, one at a time: they count on heartbeats of nodes, which expire
 * if the machine is busy.
 * Options: `--only REGEX` replays only the scenarios whose `group/name` matches, `--dialect NAME`
 * only one dialect, `--short` leaves out `slow`, whose scenarios wait for minutes, `--summary FILE`
 * writes the counts. Runs the built programs: run `npm run build` first.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createAuthority,
  issueCertificate,
  systemClock,
} from '../../dist/libs/component/src/index.js';
import {
  countResults,
  freePort,
  option,
  replayCases,
  startProgram,
  startServer,
  unknownNames,
} from './processes.mjs';
import { PublicInterfaceProxy } from './public-interface.mjs';

const groups = JSON.parse(readFileSync(join(import.meta.dirname, 'behaviour.json'), 'utf8'));
const certificateValidMs = 86_400_000;
/** Scenarios replayed concurrently; most of their time is waiting. */
const concurrency = 6;

/** The times that the scenarios count on, and enough requests for the scenarios of all groups. */
const managerFlags = [
  '--node-monitor-period=1s',
  '--node-monitor-grace-period=8s',
  '--node-startup-grace-period=8s',
  '--node-eviction-rate=10',
  '--pod-eviction-timeout=5s',
  '--use-service-account-credentials=true',
  '--leader-elect=false',
];

const only = option('--only');
const onlyDialect = option('--dialect');
const summaryFile = option('--summary');
const isShort = process.argv.includes('--short');
const selected = Object.keys(groups).filter((group) => !(isShort && group === 'slow'));
const failing = Object.fromEntries(
  selected.flatMap((group) =>
    Object.entries(groups[group].failing ?? {}).map(([name, why]) => [`${group}/${name}`, why]),
  ),
);

/** Writes the authority, the certificate of the servers and the key of service account tokens. */
async function writeCredentials(directory) {
  const authority = await createAuthority('behaviour', certificateValidMs, systemClock);
  const serving = {
    commonName: 'localhost',
    hosts: ['localhost', '127.0.0.1'],
    usages: ['server'],
    validMs: certificateValidMs,
  };
  const certificate = await issueCertificate(authority, serving, systemClock);
  const tokens = await createAuthority('tokens', certificateValidMs, systemClock);
  const write = (name, text) => writeFileSync(join(directory, name), text, { mode: 0o600 });
  write('ca.crt', authority.certificatePem);
  write('ca.key', authority.keyPem);
  write('serving.crt', certificate.certificatePem);
  write('serving.key', certificate.keyPem);
  write('service-account.key', tokens.keyPem);
}

function writeKubeconfig(directory, server) {
  const path = join(directory, 'controller-manager.kubeconfig');
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    clusters: [
      {
        name: 'test',
        cluster: { server, 'certificate-authority': join(directory, 'ca.crt') },
      },
    ],
    users: [{ name: 'admin', user: { token: 'admintoken' } }],
  };
  writeFileSync(path, JSON.stringify(kubeconfig));
  return path;
}

function servingFlags(directory) {
  return [
    `--tls-cert-file=${join(directory, 'serving.crt')}`,
    `--tls-private-key-file=${join(directory, 'serving.key')}`,
  ];
}

function startApiServer(directory, dialect) {
  return startServer(directory, dialect, [
    ...servingFlags(directory),
    `--service-account-signing-key-file=${join(directory, 'service-account.key')}`,
    '--enable-bootstrap-token-auth',
  ]);
}

/** A manager behind this proxy can use nothing that other servers of the interface do not have. */
async function startProxy(directory, server) {
  const read = (name) => readFileSync(join(directory, name), 'utf8');
  const pair = { certificatePem: read('serving.crt'), keyPem: read('serving.key') };
  const proxy = new PublicInterfaceProxy({ url: server.url, token: 'admintoken', pair });
  await proxy.start();
  return proxy;
}

/** Prints the requests that the proxy has refused, and returns their number. */
function privateUses(proxy, dialect) {
  for (const request of proxy.refused) {
    console.log(`private in ${dialect}: the controller manager sent ${request}`);
  }
  if (proxy.passedCount === 0) console.log(`${dialect}: the controller manager sent no request`);
  return proxy.refused.size + (proxy.passedCount === 0 ? 1 : 0);
}

async function startManager(directory, dialect, server) {
  const listed = Object.values(groups);
  const flags = listed.flatMap((group) => group.flags ?? []);
  const names = ['*', ...listed.flatMap((group) => group.controllers ?? [])];
  const prefix = dialect === 'orch' ? 'orch' : 'kube';
  const args = [
    `--kubeconfig=${writeKubeconfig(directory, server.url)}`,
    `--dialect=${dialect}`,
    `--root-ca-file=${join(directory, 'ca.crt')}`,
    `--controllers=${names.join(',')}`,
    `--${prefix}-api-qps=500`,
    `--${prefix}-api-burst=1000`,
    ...servingFlags(directory),
    ...managerFlags,
    ...flags.map((flag) => flag.replaceAll('<directory>', directory)),
  ];
  return startProgram('controller-manager', {
    port: await freePort(),
    probePath: '/healthz',
    args,
  });
}

const nameOf = ({ area, name }) => `${area}/${name}`;

/** Replays the scenarios, and the unexpected failures once more. @returns the last results. */
async function replayTwice(url, selection) {
  const first = await replayCases(url, selection);
  const repeated = first.results.filter((result) => !result.passed && !failing[nameOf(result)]);
  if (repeated.length === 0) return first;
  const names = repeated.map(nameOf);
  console.log(`replayed again: ${names.join(', ')}\n${first.output}`);
  const filter = `^(${names.join('|')})$`;
  const second = await replayCases(url, { ...selection, filter, concurrency: 1 });
  const kept = first.results.filter((result) => !repeated.includes(result));
  return { results: [...kept, ...second.results], output: second.output };
}

/** Replays the groups against new processes of this dialect. @returns the counts. */
async function replayIn(dialect) {
  const directory = mkdtempSync(join(tmpdir(), 'orch-behaviour-'));
  const running = [];
  let proxy;
  try {
    await writeCredentials(directory);
    const server = await startApiServer(directory, dialect);
    running.push(server);
    proxy = await startProxy(directory, server);
    running.push(await startManager(directory, dialect, proxy));
    const folders = selected.map((group) => `behaviour/${group}`);
    const selection = { directory, dialect, folders, filter: only, concurrency };
    const { results, output } = await replayTwice(server.url, selection);
    const counts = countResults(results, failing, dialect);
    if (counts.failed > 0) console.log(output);
    const unknown = only ? [] : unknownNames(failing, results);
    for (const name of unknown) console.log(`behaviour.json lists ${name}, which is no scenario`);
    const failed = counts.failed + unknown.length + privateUses(proxy, dialect);
    return { passed: counts.passed, failed };
  } catch (error) {
    console.error(error.message);
    for (const program of running) console.error(program.log());
    return { passed: 0, failed: 1 };
  } finally {
    const [server, ...clients] = running;
    for (const client of clients) await client.stop();
    await proxy?.stop();
    await server?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

const recorded = readdirSync(join(import.meta.dirname, 'behaviour'));
const missing = recorded.filter((name) => !(name in groups));
const total = { passed: 0, failed: 0 };
for (const name of Object.keys(groups).filter((group) => !recorded.includes(group))) {
  console.log(`behaviour.json lists ${name}, which is no recorded group`);
  total.failed += 1;
}
const dialects = onlyDialect ? [onlyDialect] : ['orch', 'kubernetes'];
for (const counts of await Promise.all(dialects.map(replayIn))) {
  total.passed += counts.passed;
  total.failed += counts.failed;
}
if (missing.length > 0) console.log(`groups without a controller: ${missing.join(', ')}`);
for (const [name, reason] of Object.entries(failing))
  console.log(`expected failure: ${name}: ${reason}`);
if (summaryFile) writeFileSync(summaryFile, JSON.stringify(total));
console.log(`behaviour: ${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;
