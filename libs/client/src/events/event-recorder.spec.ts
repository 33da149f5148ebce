import { expect, it, vi } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { eventually, quietLogger } from '../../test/support.js';
import { TestApiServer } from '../../test/test-api-server.js';
import { resources } from '../generated/resources.js';
import { limits } from '../limits.js';
import { RestClient } from '../rest/rest-client.js';
import { MemoryApiClient } from '../testing/memory-api-client.js';
import { MemoryApiServer } from '../testing/memory-api-server.js';
import { EventRecorder } from './event-recorder.js';

it('writes an event, counts its repetitions, and drops a rejected event', async () => {
  const server = new TestApiServer();
  const client = new RestClient({ servers: [await server.start()] });
  const recorder = new EventRecorder({ client, component: 'tester', logger: quietLogger });
  const regarding = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n' } };
  server.faults.push({ statusCode: 403, reason: 'Forbidden' });
  recorder.event(regarding, 'Warning', 'Refused', 'lost');
  for (let round = 0; round < 3; round++) recorder.event(regarding, 'Normal', 'Done', 'well');
  const paths = () => server.paths('/api/v1/namespaces/n/events');
  await eventually('counted', () => server.get(paths()[0] ?? '')?.count === 3);
  expect(paths()).toHaveLength(1);
  expect(server.get(paths()[0]!)).toMatchObject({
    reason: 'Done',
    type: 'Normal',
    source: { component: 'tester' },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'n' },
  });
  await recorder.stop();
  await client.close();
  await server.stop();
});

it('retries when the server is unavailable, and writes the event once if a response is lost', async () => {
  const server = new TestApiServer();
  const client = new RestClient({ servers: [await server.start()] });
  const clock = new TestClock();
  const recorder = new EventRecorder({ client, component: 'tester', logger: quietLogger, clock });
  const regarding = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n' } };
  server.faults.push({ statusCode: 503 });
  recorder.event(regarding, 'Normal', 'Done', 'well');
  await eventually('the first attempt', () => server.requests.length === 1);
  server.lostResponseCount = 1;
  for (const requestCount of [2, 3]) {
    await eventually('the next attempt', () => {
      void clock.advance(1_000);
      return server.requests.length === requestCount;
    });
  }
  await recorder.stop();
  expect(server.paths('/api/v1/namespaces/n/events')).toHaveLength(1);
  await client.close();
  await server.stop();
});

it('writes a burst of different events without drops, and waiting repetitions as one', async () => {
  const server = new TestApiServer();
  const client = new RestClient({ servers: [await server.start()], qps: 0 });
  const recorder = new EventRecorder({ client, component: 'tester', logger: quietLogger });
  const pod = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'n' },
  });
  const burst = 1_000;
  for (let index = 0; index < burst; index++) {
    recorder.event(pod(`p${index}`), 'Normal', 'Scheduled', `assigned p${index}`);
    recorder.event(pod('busy'), 'Warning', 'FailedScheduling', 'no node');
  }
  const events = () => server.paths('/api/v1/namespaces/n/events').map((path) => server.get(path));
  const counted = () => events().find((event) => event?.reason === 'FailedScheduling')?.count;
  await eventually('all are written', () => events().length === burst + 1);
  await eventually('the repetitions are counted', () => counted() === burst);
  // One request for the first repetition, which does not wait, and one for all others.
  expect(server.requests.filter(({ method }) => method !== 'GET')).toHaveLength(burst + 2);
  await recorder.stop();
  await client.close();
  await server.stop();
});

it('writes events about other objects while one waits for its retry', async () => {
  const server = new TestApiServer();
  const client = new RestClient({ servers: [await server.start()], qps: 0 });
  const clock = new TestClock();
  const recorder = new EventRecorder({ client, component: 'tester', logger: quietLogger, clock });
  const pod = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'n' },
  });
  const written = () => server.paths('/api/v1/namespaces/n/events').map((path) => server.get(path));
  server.faults.push({ statusCode: 503 });
  recorder.event(pod('a'), 'Normal', 'Started', 'first');
  await eventually('the refused attempt', () => server.requests.length === 1);
  recorder.event(pod('a'), 'Normal', 'Ended', 'second');
  recorder.event(pod('b'), 'Normal', 'Started', 'first');
  await eventually('the other object', () => written().length === 1);
  expect(written()[0]).toMatchObject({ involvedObject: { name: 'b' } });
  await eventually('the retry', () => {
    void clock.advance(1_000);
    return written().length === 3;
  });
  const posted = server.requests.filter(({ method }) => method === 'POST');
  expect(posted).toHaveLength(4);
  await recorder.stop();
  await client.close();
  await server.stop();
});

it('writes an event that comes right after the last one was written', async () => {
  const pod = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
  });
  for (let turnCount = 0; turnCount < 40; turnCount++) {
    const server = new MemoryApiServer();
    const client = new MemoryApiClient(server);
    const recorder = new EventRecorder({ client, component: 'tester', logger: quietLogger });
    recorder.event(pod('first'), 'Normal', 'Done', 'well');
    for (let turn = 0; turn < turnCount; turn++) await Promise.resolve();
    recorder.event(pod('second'), 'Normal', 'Done', 'well');
    await new Promise((resolve) => setImmediate(resolve));
    const names = server.list(resources.events).map((event) => event.involvedObject.name);
    expect(names, `after ${turnCount} turns`).toEqual(['first', 'second']);
  }
});

it('writes many different events about one object as ten, and drops those it would not write', async () => {
  const server = new MemoryApiServer();
  const client = new MemoryApiClient(server);
  const recorder = new EventRecorder({ client, component: 'tester', logger: quietLogger });
  const regarding = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', namespace: 'default' };
  const burst = 2 * limits.eventQueueMax;
  for (let index = 0; index < burst; index++) {
    recorder.event(regarding, 'Normal', 'SuccessfulCreate', `Created pod: p${index}`);
  }
  const other = { ...regarding, name: 'other' };
  recorder.event(other, 'Normal', 'SuccessfulCreate', 'Created pod: o');
  const events = () => server.list(resources.events);
  await eventually('all are written', () => events().length === 11);
  const combined = events().find(({ message }) => message?.startsWith('(combined'));
  expect(combined).toMatchObject({
    message: `(combined from similar events): Created pod: p${burst - 1}`,
    count: burst - 9,
  });
  expect(events().filter(({ involvedObject }) => involvedObject.name === 'other')).toHaveLength(1);
  await recorder.stop();
});

it('logs dropped events once, not each', async () => {
  const warn = vi.fn();
  const server = new TestApiServer();
  const client = new RestClient({ servers: [await server.start()] });
  const recorder = new EventRecorder({
    client,
    component: 'tester',
    logger: { ...quietLogger, warn },
  });
  for (let index = 0; index < limits.eventQueueMax + 100; index++) {
    const regarding = { apiVersion: 'v1', kind: 'Pod', name: `p${index}`, namespace: 'n' };
    recorder.event(regarding, 'Normal', 'Scheduled', 'assigned');
  }
  expect(warn.mock.calls).toEqual([
    [{ reason: 'Scheduled', dropCount: 1 }, 'event queue is full, events dropped'],
  ]);
  await recorder.stop(0);
  await client.close();
  await server.stop();
});
