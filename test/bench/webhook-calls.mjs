/** What one validating webhook adds to a create, next to a bare round trip of the same bytes. */
import { Agent, request as httpsRequest } from 'node:https';
import { performance } from 'node:perf_hooks';
import { until } from './bench-files.mjs';
import { RawConnection, requestBytes } from './raw-client.mjs';
import { count, percentile, printRow } from './row.mjs';
import { configurations, named, reviewing } from './webhook-configurations.mjs';

/** Share of the calls that are left out: the processes compile their code. */
const warmUpShare = 0.2;

/** Other load only ever makes a call slower: the quick calls repeat where medians differ. */
const shares = [
  ['p10', 0.1],
  ['p50', 0.5],
];
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

/** Alternates between the sorts of requests, so that all meet the same machine. */
export async function measureCalls(server, webhook, callCount) {
  const { port, authority } = webhook;
  const { url } = webhook.at('/');
  const webhooks = [reviewing(webhook.at('/'), { webhook: 'allows' })];
  await server.call('POST', configurations, named('allows', webhooks));
  const [api, raw] = [await RawConnection.open(server.port), await RawConnection.open(port)];
  const agent = new Agent({ keepAlive: true, ca: authority });
  await until('the webhook is called', async () => {
    await createIn(api, server, 'allows');
    return (await webhook.child.run('lastBody')).length > 0 || undefined;
  });
  const body = Buffer.from(await webhook.child.run('lastBody'));
  const bytes = requestBytes('POST', '/?timeout=10s', { token: 'x', body: body.toString() });
  const works = {
    plain: () => createIn(api, server, 'plain'),
    bare: () => bareRoundTrip(url, agent, body),
    reviewed: () => createIn(api, server, 'allows'),
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
  const settled = Object.entries(timesUs).map(([name, times]) => [
    name,
    times.slice(times.length * warmUpShare).sort((a, b) => a - b),
  ]);
  for (const [label, share] of shares) {
    const us = Object.fromEntries(settled.map(([name, times]) => [name, percentile(times, share)]));
    const row = (name, value, detail) =>
      printRow(`${name}, ${label}`, `${count(value)} us`, detail);
    row('create, 1 connection', us.plain);
    row('create that a webhook validates', us.reviewed);
    row(`bare round trip of ${count(bodyBytes)} bytes`, us.bare, `raw TLS: ${count(us.raw)} us`);
    const added = us.reviewed - us.plain;
    const [ofBare, ofRaw] = [us.bare, us.raw].map((bare) => (added / bare).toFixed(2));
    row('added', added, `${ofBare} round trips of node:https, ${ofRaw} of raw TLS`);
  }
}
