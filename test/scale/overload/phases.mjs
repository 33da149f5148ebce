/** The phases of the overload test, by title. Each gets the server and the sizes. */
import { count, printRow } from '../../bench/row.mjs';

const ordinaryConnections = 32;
const kibibyte = 1_024;
/** The objects, the session and the buffers of a TLS connection. */
const connectionBytesMax = 100 * kibibyte;
/** A block of the response and the bytes in the socket, for a client that does not read. */
const readerBytesMax = 2_048 * kibibyte;
/** A body is in memory as chunks, and once more when it is complete. */
const bodyCopies = 2;
const applyType = 'application/apply-patch+yaml';
/** So that each write changes its object. */
let writeCount = 0;

function printOutcomes(name, { acceptedCount, seconds, statuses, lostCount, p50Ms, p99Ms }) {
  const texts = Object.entries(statuses).map(([status, times]) => `${count(times)} x ${status}`);
  const lost = lostCount > 0 ? `, ${count(lostCount)} lost` : '';
  const latency =
    acceptedCount > 0 ? `; p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms` : '';
  printRow(name, `${count(acceptedCount / seconds)}/s`, `${texts.join(', ')}${lost}${latency}`);
}

/** Seats of the priority level of ordinary users. */
async function seatsOf(server) {
  const text = await server.call('GET', '/metrics');
  const name = 'apiserver_flowcontrol_request_concurrency_limit';
  return Number(
    new RegExp(`^${name}\\{priority_level="global-default"\\} (\\S+)`, 'm').exec(text)[1],
  );
}

async function flood(overload, sizes) {
  const { server, clients, namespace } = overload;
  const usual = { connectionCount: ordinaryConnections, runMs: sizes.overloadMs / 4, namespace };
  await clients.run('flood', usual);
  printOutcomes(`creates, ${ordinaryConnections} clients`, await clients.run('flood', usual));
  const seats = await seatsOf(server);
  const connectionCount = seats * sizes.overloadFactor;
  const allowedBytes = connectionCount * connectionBytesMax;
  await server.loopDelay();
  let outcomes;
  await overload.withinMemory('overload', allowedBytes, async () => {
    outcomes = await overload.besideBystanders(() =>
      clients.run('flood', { connectionCount, runMs: sizes.overloadMs, namespace }),
    );
  });
  printOutcomes(`${count(connectionCount)} clients for ${seats} seats`, outcomes);
  const { p99Ms, maxMs } = await server.loopDelay();
  printRow('event loop', '', `p99 +${p99Ms.toFixed(0)} ms, max +${maxMs.toFixed(0)} ms`);
  const { statuses, lostCount } = outcomes;
  overload.check(statuses[201] > 0, 'overload: no request was served');
  overload.check(statuses[429] > 0, 'overload: no request was refused');
  const unexpected = Object.keys(statuses).filter((status) => !['201', '429'].includes(status));
  overload.check(unexpected.length === 0, `overload: statuses ${unexpected}`);
  overload.check(lostCount === 0, `overload: ${lostCount} connections were lost`);
  const recoveryMs = await overload.recovery();
  printRow('recovery', `${recoveryMs.toFixed(0)} ms`, 'until a create of an ordinary user');
}

async function idle(overload, sizes) {
  const { idleConnections } = sizes;
  const { clients, server } = overload;
  const settings = { connectionCount: idleConnections };
  const growth = await overload.withinMemory(
    'idle connections',
    idleConnections * connectionBytesMax,
    () => clients.run('openIdle', settings),
  );
  const name = `${count(idleConnections)} idle connections`;
  printRow(name, `${count(growth / idleConnections / kibibyte)} KiB each`);
  const before = server.cpuUs();
  const startedMs = performance.now();
  await overload.besideBystanders(() => new Promise((done) => setTimeout(done, sizes.settleMs)));
  const share = (server.cpuUs() - before) / 1_000 / (performance.now() - startedMs);
  printRow('CPU with the bystanders', `${(share * 100).toFixed(1)}%`, 'of one core');
  const { count: openCount } = await clients.run('openCount');
  overload.check(openCount === idleConnections, `${idleConnections - openCount} were closed`);
  await clients.run('closeAll');
}

/** Creates or replaces the large objects. */
async function writeLarge(overload, { objectCount, objectBytes }) {
  const { server, namespace } = overload;
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const query = 'fieldManager=overload&force=true';
  for (let index = 0; index < objectCount; index += 1) {
    const metadata = { name: `large-${index}`, labels: { size: 'large' } };
    const data = { payload: String(writeCount % 10).repeat(objectBytes) };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
    await server.call('PATCH', `${path}/${metadata.name}?${query}`, object, applyType);
    writeCount += 1;
  }
  overload.hasLarge = true;
}

async function deafReaders(overload, sizes) {
  const { clients, namespace } = overload;
  await writeLarge(overload, sizes);
  const { deafReaders: connectionCount } = sizes;
  const path = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=size%3Dlarge`;
  const each = connectionBytesMax + readerBytesMax;
  const growth = await overload.withinMemory('slow readers', connectionCount * each, () =>
    overload.besideBystanders(async () => {
      await clients.run('openDeaf', { connectionCount, path });
      await new Promise((done) => setTimeout(done, sizes.settleMs));
    }),
  );
  const listBytes = sizes.objectCount * sizes.objectBytes;
  printRow(
    `${connectionCount} read nothing of ${count(listBytes / 1e6)} MB`,
    `${count(growth / connectionCount / kibibyte)} KiB each`,
  );
  await clients.run('closeAll');
}

async function deafWatchers(overload, sizes) {
  const { clients, namespace } = overload;
  const { deafWatchers: connectionCount } = sizes;
  if (!overload.hasLarge) await writeLarge(overload, sizes);
  const path = `/api/v1/namespaces/${namespace}/configmaps?watch=1&labelSelector=size%3Dlarge`;
  const eventBytes = sizes.objectCount * sizes.objectBytes;
  const allowedBytes = connectionCount * (connectionBytesMax + readerBytesMax) + 2 * eventBytes;
  const growth = await overload.withinMemory('slow watchers', allowedBytes, () =>
    overload.besideBystanders(async () => {
      await clients.run('openDeaf', { connectionCount, path });
      await writeLarge(overload, sizes);
    }),
  );
  printRow(
    `${connectionCount} read nothing of ${count(eventBytes / 1e6)} MB of events`,
    `${count(growth / connectionCount / kibibyte)} KiB each`,
  );
  await clients.run('closeAll');
}

async function unfinishedBodies(overload, sizes) {
  const { clients, namespace } = overload;
  const { unfinishedBodies: connectionCount, bodyBytes } = sizes;
  const allowedBytes = connectionCount * (bodyBytes * bodyCopies + connectionBytesMax);
  await overload.withinMemory('slow writers', allowedBytes, () =>
    overload.besideBystanders(async () => {
      await clients.run('openUnfinished', { connectionCount, namespace, bodyBytes });
      await new Promise((done) => setTimeout(done, sizes.settleMs));
      if (sizes.waitsForLimits) {
        const recoveryMs = await overload.recovery();
        printRow('another client of the user', `${count(recoveryMs)} ms`, 'until its create');
      }
    }),
  );
  const { count: openCount } = await clients.run('openCount');
  printRow(
    `${connectionCount} bodies of ${count(bodyBytes / 1e3)} KB without end`,
    `${openCount} open`,
  );
  await clients.run('closeAll');
  const recoveryMs = await overload.recovery();
  printRow('recovery', `${recoveryMs.toFixed(0)} ms`, 'until a create of an ordinary user');
}

export const phases = {
  'Overload of one priority level': flood,
  'Idle connections': idle,
  'Slow readers of a list': deafReaders,
  'Slow watchers': deafWatchers,
  'Slow writers of bodies': unfinishedBodies,
};
