/**
 * Measures admission webhooks on a running server: what creates cost while 100 webhooks are
 * registered that match none of them, and what one validating webhook adds to a create, compared
 * with a bare HTTPS round trip of the same bytes to it. `npm run bench -- webhooks`.
 */
import { readFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { performance } from 'node:perf_hooks';
import { compileHooks } from '../../dist/libs/admission/src/webhooks/hook.js';
import { HookSet } from '../../dist/libs/admission/src/webhooks/hook-set.js';
import { ValidatingWebhooks } from '../../dist/libs/admission/src/webhooks/validating-webhooks.js';
import { definitions } from '../../dist/libs/api/src/index.js';
import { FeatureGates } from '../../dist/libs/component/src/index.js';
import { ResourceTable } from '../../dist/libs/registry/src/index.js';
import { makeCertificates, makeDirectory, removeDirectory, until } from './bench-files.mjs';
import { Child } from './child.mjs';
import { Load } from './load.mjs';
import { comparison, pairedRounds } from './paired-rounds.mjs';
import { RawConnection, requestBytes } from './raw-client.mjs';
import { count, median, printRow } from './row.mjs';
import { ServerProcess } from './server-process.mjs';

const isShort = process.argv.includes('--short');
const hookCount = 100;
const lookupCount = isShort ? 10_000 : 2_000_000;
const lookupRoundCount = isShort ? 1 : 5;
const callCount = 800;
const rateRoundCount = isShort ? 3 : 30;
const rateRunMs = 250;
/** Of the first calls, while the processes compile their code. */
const warmUpShare = 0.2;
const group = 'admissionregistration.orch.io';
const configurations = `/apis/${group}/v1/validatingwebhookconfigurations`;

const table = new ResourceTable(definitions, undefined, new FeatureGates('apiserver'));
const served = table.find('', 'v1', 'configmaps');

function hook(index) {
  return {
    name: `hook-${index}.example.com`,
    clientConfig: { url: 'https://127.0.0.1/' },
    rules: [
      {
        apiGroups: ['apps'],
        apiVersions: ['*'],
        operations: ['CREATE', 'UPDATE'],
        resources: [`kind-${index}`, 'deployments', 'deployments/status'],
      },
    ],
    namespaceSelector: { matchLabels: { team: `team-${index}` } },
    matchPolicy: 'Equivalent',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
  };
}

const hooks = (length) => Array.from({ length }, (_, index) => hook(index));

/** The best of several rounds, because other processes can only increase the time. */
function lookupNs(hookCount) {
  const compiled = compileHooks({ metadata: { name: 'bench' }, webhooks: hooks(hookCount) });
  const plugin = new ValidatingWebhooks({ hooks: { current: new HookSet(compiled) } });
  const request = { served, subresource: '', operation: 'CREATE', context: {} };
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < lookupRoundCount; round += 1) {
    const start = performance.now();
    for (let index = 0; index < lookupCount; index += 1) plugin.validate(request);
    best = Math.min(best, ((performance.now() - start) * 1e6) / lookupCount);
  }
  return best;
}

const named = (name, webhooks) => ({ metadata: { name }, webhooks });

/** Creates at 32 connections, alternately with and without webhooks that match nothing. */
async function measureUnmatched(server) {
  const load = new Load(server);
  await load.ready;
  let isRegistered = false;
  const run = async (withHooks) => {
    if (withHooks && !isRegistered)
      await server.call('POST', configurations, named('unmatched', hooks(hookCount)));
    if (!withHooks && isRegistered) await server.call('DELETE', `${configurations}/unmatched`);
    isRegistered = withHooks;
    const before = server.cpuUs();
    const settings = { create: 'plain', connectionCount: 32, runMs: rateRunMs, requestsMin: 0 };
    const { requestCount, seconds } = await load.run('load', settings);
    return {
      perSecond: requestCount / seconds,
      cpuUs: (server.cpuUs() - before) / requestCount,
    };
  };
  const rounds = await pairedRounds({ old: false, new: true }, run, rateRoundCount);
  const text = (key, isRate) => {
    const { ratio, low, high } = comparison(rounds, key, isRate);
    return `${ratio.toFixed(3)} (${low.toFixed(3)}-${high.toFixed(3)})`;
  };
  const rate = count(comparison(rounds, 'perSecond', true).new);
  const detail = `pairs with/without: rate ${text('perSecond', true)}, server CPU ${text('cpuUs', false)}`;
  printRow(`create, ${hookCount} webhooks match nothing`, `${rate}/s`, detail);
  await load.stop();
}

let serial = 0;

/** One create of an object of 1 KB. */
function createIn(connection, server, namespace) {
  serial += 1;
  const body = JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `object-${serial}`, namespace },
    data: { payload: 'x'.repeat(900) },
  });
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  return connection.send(requestBytes('POST', path, { token: server.token, body }));
}

/** A round trip with the HTTPS client of the runtime, on a kept connection. */
function bareRoundTrip(url, agent, body) {
  return new Promise((done, fail) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const request = httpsRequest(url, { method: 'POST', agent, headers }, (response) => {
      response.on('data', () => undefined);
      response.once('end', done);
      response.once('error', fail);
    });
    request.once('error', fail);
    request.end(body);
  });
}

async function timed(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) * 1_000;
}

/** One request of each sort in turn, so that all meet the same machine. */
async function measureCalls(server, webhook, files) {
  const port = await webhook.run('port');
  const url = `https://127.0.0.1:${port}/`;
  const authority = readFileSync(files.authorityFile);
  const rules = [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
  ];
  const reviewing = {
    ...hook(0),
    clientConfig: { url, caBundle: authority.toString('base64') },
    rules,
    namespaceSelector: { matchLabels: { reviewed: 'true' } },
  };
  await server.call('POST', configurations, named('reviewing', [reviewing]));
  const [api, raw] = [await RawConnection.open(server.port), await RawConnection.open(port)];
  const agent = new Agent({ keepAlive: true, ca: authority });
  await until('the webhook is called', async () => {
    await createIn(api, server, 'reviewed');
    return (await webhook.run('lastBody')).length > 0 || undefined;
  });
  const body = Buffer.from(await webhook.run('lastBody'));
  const bytes = requestBytes('POST', '/?timeout=10s', { token: 'x', body: body.toString() });
  const works = {
    plain: () => createIn(api, server, 'plain'),
    bare: () => bareRoundTrip(url, agent, body),
    reviewed: () => createIn(api, server, 'reviewed'),
    raw: () => raw.send(bytes),
  };
  const timesUs = { plain: [], bare: [], reviewed: [], raw: [] };
  for (let index = 0; index < callCount; index += 1) {
    for (const [name, work] of Object.entries(works)) timesUs[name].push(await timed(work));
  }
  agent.destroy();
  for (const connection of [api, raw]) connection.close();
  printCalls(timesUs, body.length);
}

function printCalls(timesUs, bodyBytes) {
  const middle = Object.fromEntries(
    Object.entries(timesUs).map(([name, times]) => [
      name,
      median(times.slice(times.length * warmUpShare)),
    ]),
  );
  const addedUs = middle.reviewed - middle.plain;
  const us = (value) => `${count(value)} us`;
  printRow('create, 1 connection', us(middle.plain));
  printRow('create that a webhook validates', us(middle.reviewed));
  printRow(`bare round trip, ${count(bodyBytes)} bytes, node:https`, us(middle.bare));
  printRow(`bare round trip, ${count(bodyBytes)} bytes, raw TLS`, us(middle.raw));
  const [ofBare, ofRaw] = [middle.bare, middle.raw].map((bare) => (addedUs / bare).toFixed(2));
  const detail = `${ofBare} times node:https, ${ofRaw} times raw TLS`;
  printRow('added by the webhook', us(addedUs), detail);
}

for (const registered of []) {
  const ns = lookupNs(registered);
  printRow(`lookup that matches none of ${registered} webhooks`, `${ns.toFixed(1)} ns`);
}
const directory = await makeDirectory('orch-bench-webhooks');
const server = new ServerProcess();
let webhook;
try {
  const files = await makeCertificates(directory);
  webhook = new Child('webhook-process.mjs', { ...files, apiVersion: 'admission.orch.io/v1' });
  await server.start();
  await server.createNamespace('plain');
  const reviewed = { metadata: { name: 'reviewed', labels: { reviewed: 'true' } } };
  await server.call('POST', '/api/v1/namespaces', reviewed);

  await measureCalls(server, webhook, files);
} finally {
  await webhook?.stop();
  await server.stop();
  await removeDirectory(directory);
}
