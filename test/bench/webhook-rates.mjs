/** Creates that no webhook reviews, while webhooks are registered, hang or flood the server. */
import { request } from 'undici';
import { until } from './bench-files.mjs';
import { comparison, pairedRounds } from './paired-rounds.mjs';
import { count, printRow } from './row.mjs';
import { configurations, hooks, named, reviewing } from './webhook-configurations.mjs';

const runMs = 250;
/** Short, because many rounds narrow the interval more than long ones. */
const hangingRunMs = 150;
const connectionCount = 32;
const hangingCount = 100;

async function rate({ server, load }, roundMs = runMs) {
  const before = server.cpuUs();
  const settings = { create: 'plain', connectionCount, runMs: roundMs, requestsMin: 0 };
  const { requestCount, seconds } = await load.run('load', settings);
  return { perSecond: requestCount / seconds, cpuUs: (server.cpuUs() - before) / requestCount };
}

function printRates(name, rounds) {
  const text = (key, isRate) => {
    const { ratio, low, high } = comparison(rounds, key, isRate);
    return `${ratio.toFixed(3)} (${low.toFixed(3)}-${high.toFixed(3)})`;
  };
  const best = count(comparison(rounds, 'perSecond', true).new);
  const pairs = `rate ${text('perSecond', true)}, server CPU ${text('cpuUs', false)}`;
  printRow(name, `${best}/s`, `pairs with/without: ${pairs}`);
}

/** Creates with and without webhooks that match nothing. */
export async function measureUnmatched(bench, hookCount, roundCount) {
  const { server } = bench;
  let isRegistered = false;
  const run = async (withHooks) => {
    if (withHooks && !isRegistered)
      await server.call('POST', configurations, named('unmatched', hooks(hookCount)));
    if (!withHooks && isRegistered) await server.call('DELETE', `${configurations}/unmatched`);
    isRegistered = withHooks;
    return rate(bench);
  };
  const rounds = await pairedRounds({ old: false, new: true }, run, roundCount);
  printRates(`create, ${hookCount} webhooks match nothing`, rounds);
}

function createIn({ server }, namespace, name) {
  return request(`${server.url}/api/v1/namespaces/${namespace}/configmaps`, {
    dispatcher: server.agent,
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name, namespace } }),
  }).then(({ body }) => body.dump());
}

/** Creates with and without requests that wait for a webhook. */
export async function measureHanging(bench, webhook, roundCount) {
  const { server } = bench;
  const settings = { failurePolicy: 'Ignore', timeoutSeconds: 30 };
  const webhooks = [reviewing(webhook.at('/hang'), { webhook: 'hangs' }, settings)];
  await server.call('POST', configurations, named('hangs', webhooks));
  let serial = 0;
  const run = async (withHanging) => {
    if (!withHanging) return rate(bench, hangingRunMs);
    const waiting = Array.from({ length: hangingCount }, () => {
      serial += 1;
      return createIn(bench, 'hangs', `object-${serial}`);
    });
    await until('the requests hang', async () =>
      (await webhook.child.run('hangingCount')) === hangingCount ? true : undefined,
    );
    const figures = await rate(bench, hangingRunMs);
    await webhook.child.run('release');
    await Promise.all(waiting);
    return figures;
  };
  const rounds = await pairedRounds({ old: false, new: true }, run, roundCount);
  printRates(`create, ${hangingCount} requests wait for a webhook`, rounds);
}

/** The memory of the server while a webhook sends 10 MB to each of many requests. */
export async function measureFlood(bench, webhook, roundCount) {
  const { server } = bench;
  const settings = { failurePolicy: 'Ignore' };
  const webhooks = [reviewing(webhook.at('/flood'), { webhook: 'floods' }, settings)];
  await server.call('POST', configurations, named('floods', webhooks));
  server.forgetPeak();
  const before = server.peakBytes();
  for (let round = 0; round < roundCount; round += 1) {
    const names = Array.from({ length: connectionCount }, (_, index) => `object-${round}-${index}`);
    await Promise.all(names.map((name) => createIn(bench, 'floods', name)));
  }
  const megabytes = (bytes) => count(bytes / 1e6);
  const figure = `+${megabytes(server.peakBytes() - before)} MB`;
  const requests = `${count(roundCount * connectionCount)} requests, ${connectionCount} at a time`;
  printRow(
    'peak memory, a webhook sends 10 MB',
    figure,
    `${megabytes(before)} MB before; ${requests}`,
  );
}
