/**
 * Measures admission webhooks on a running server: creates while 100 webhooks are registered that
 * match none of them, what one validating webhook adds to a create, and other creates while a
 * webhook hangs or sends too much. `npm run bench -- webhooks`.
 */
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { compileHooks } from '../../dist/libs/admission/src/webhooks/hook.js';
import { HookSet } from '../../dist/libs/admission/src/webhooks/hook-set.js';
import { ValidatingWebhooks } from '../../dist/libs/admission/src/webhooks/validating-webhooks.js';
import { definitions } from '../../dist/libs/api/src/index.js';
import { FeatureGates } from '../../dist/libs/component/src/index.js';
import { ResourceTable } from '../../dist/libs/registry/src/index.js';
import { makeCertificates, makeDirectory, removeDirectory } from './bench-files.mjs';
import { Child } from './child.mjs';
import { Load } from './load.mjs';
import { printRow } from './row.mjs';
import { ServerProcess } from './server-process.mjs';
import { measureCalls } from './webhook-calls.mjs';
import { hooks } from './webhook-configurations.mjs';
import { measureFlood, measureHanging, measureUnmatched } from './webhook-rates.mjs';

const isShort = process.argv.includes('--short');
const hookCount = 100;
const lookupCount = isShort ? 10_000 : 2_000_000;
const lookupRoundCount = isShort ? 1 : 5;
const callCount = isShort ? 20 : 2_500;
const rateRoundCount = isShort ? 3 : 30;
const hangingRoundCount = isShort ? 2 : 120;
const floodRoundCount = isShort ? 2 : 10;

const table = new ResourceTable(definitions, undefined, new FeatureGates('apiserver'));
const served = table.find('', 'v1', 'configmaps');

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

for (const registered of [0, hookCount]) {
  const ns = lookupNs(registered);
  printRow(`lookup that matches none of ${registered} webhooks`, `${ns.toFixed(1)} ns`);
}
/** The process of the webhook, with the client configuration of its paths. */
async function startWebhook(files) {
  const settings = { ...files, apiVersion: 'admission.orch.io/v1' };
  const child = new Child('webhook-process.mjs', settings);
  const port = await child.run('port');
  const authority = readFileSync(files.authorityFile);
  const caBundle = authority.toString('base64');
  return {
    child,
    port,
    authority,
    at: (path) => ({ url: `https://127.0.0.1:${port}${path}`, caBundle }),
  };
}

const directory = await makeDirectory('orch-bench-webhooks');
const server = new ServerProcess();
let webhook;
let load;
try {
  webhook = await startWebhook(await makeCertificates(directory));
  await server.start();
  load = new Load(server);
  await load.ready;
  await server.createNamespace('plain');
  for (const name of ['allows', 'hangs', 'floods']) {
    const metadata = { name, labels: { webhook: name } };
    await server.call('POST', '/api/v1/namespaces', { metadata });
  }
  const bench = { server, load };
  await measureUnmatched(bench, hookCount, rateRoundCount);
  await measureCalls(server, webhook, callCount);
  await measureHanging(bench, webhook, hangingRoundCount);
  await measureFlood(bench, webhook, floodRoundCount);
} finally {
  await load?.stop();
  await webhook?.child.stop();
  await server.stop();
  await removeDirectory(directory);
}
