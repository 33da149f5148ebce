/**
 * Measures admission webhooks: what a request costs that none of 100 registered webhooks matches,
 * and the call of one webhook, compared with a bare HTTPS round trip of the same bytes to it.
 * `npm run bench -- webhooks`.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { performance } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { compileHooks } from '../../dist/libs/admission/src/webhooks/hook.js';
import { HookSet } from '../../dist/libs/admission/src/webhooks/hook-set.js';
import { ValidatingWebhooks } from '../../dist/libs/admission/src/webhooks/validating-webhooks.js';
import { definitions } from '../../dist/libs/api/src/index.js';
import { FeatureGates } from '../../dist/libs/component/src/index.js';
import { ResourceTable } from '../../dist/libs/registry/src/index.js';
import { WebhookClient } from '../../dist/libs/security/src/index.js';
import { makeCertificates, makeDirectory, removeDirectory } from './bench-files.mjs';
import { median, printRow } from './row.mjs';

const isShort = process.argv.includes('--short');
const hookCount = 100;
const requestCount = isShort ? 10_000 : 2_000_000;
const callCount = isShort ? 20 : 1_500;
const roundCount = isShort ? 1 : 5;

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

function pluginWith(count) {
  const webhooks = Array.from({ length: count }, (_, index) => hook(index));
  const current = new HookSet(compileHooks({ metadata: { name: 'bench' }, webhooks }));
  return new ValidatingWebhooks({ hooks: { current } });
}

/** The best of several rounds, because other processes can only increase the time. */
function nanosecondsOf(plugin) {
  const request = { served, subresource: '', operation: 'CREATE', context: {} };
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < roundCount; round += 1) {
    const start = performance.now();
    for (let index = 0; index < requestCount; index += 1) plugin.validate(request);
    best = Math.min(best, ((performance.now() - start) * 1e6) / requestCount);
  }
  return best;
}

for (const count of [0, hookCount]) {
  const ns = nanosecondsOf(pluginWith(count));
  printRow(`request that matches none of ${count} webhooks`, `${ns.toFixed(1)} ns`);
}

/** An HTTPS server on a thread of its own, which responds to everything with the same bytes. */
const serverCode = `
  const { readFileSync } = require('node:fs');
  const { createServer } = require('node:https');
  const { parentPort, workerData } = require('node:worker_threads');
  const server = createServer(
    { cert: readFileSync(workerData.certificate), key: readFileSync(workerData.key) },
    (request, response) => {
      request.resume().once('end', () => {
        response.setHeader('content-type', 'application/json');
        response.end(workerData.response);
      });
    },
  );
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

async function medianOf(work) {
  const times = [];
  for (let index = 0; index < callCount; index += 1) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return median(times.slice(times.length / 10));
}

const directory = await makeDirectory('orch-bench-webhooks');
try {
  const files = await makeCertificates(directory);
  const authority = readFileSync(files.authorityFile, 'utf8');
  const response = JSON.stringify({ response: { uid: 'x'.repeat(36), allowed: true } });
  const workerData = { certificate: files.certificateFile, key: files.keyFile, response };
  const worker = new Worker(serverCode, { eval: true, workerData });
  const [port] = await once(worker, 'message');
  const body = JSON.stringify({ request: { object: 'x'.repeat(2_000) } });
  const agent = new Agent({ keepAlive: true, ca: authority });
  const url = `https://127.0.0.1:${port}/`;
  const bare = async () => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const request = httpsRequest(url, { method: 'POST', agent, headers });
    request.end(body);
    const [received] = await once(request, 'response');
    await text(received);
  };
  const client = new WebhookClient(() => Promise.reject(new Error('no services')));
  const address = { url, caBundle: Buffer.from(authority).toString('base64') };
  const settings = { timeoutMs: 10_000, responseBytesMax: 1 << 20, userAgent: 'bench' };
  const called = () => client.call({ address, body, ...settings });
  await medianOf(bare);
  await medianOf(called);
  const [bareMs, calledMs] = [await medianOf(bare), await medianOf(called)];
  const detail = `${(calledMs / bareMs).toFixed(2)} times the round trip`;
  printRow('bare HTTPS round trip, 2 KB', `${(bareMs * 1_000).toFixed(0)} us`);
  printRow('call of a webhook, 2 KB', `${(calledMs * 1_000).toFixed(0)} us`, detail);
  client.close();
  agent.destroy();
  await worker.terminate();
} finally {
  await removeDirectory(directory);
}
