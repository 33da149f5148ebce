import { expect, it } from 'vitest';
import { eventually, quietLogger } from '../../test/support.js';
import { TestApiServer } from '../../test/test-api-server.js';
import { TestClock } from '../../test/test-clock.js';
import { RestClient } from '../rest/rest-client.js';
import { EventRecorder } from './event-recorder.js';

it('writes an event, counts repetitions on it, and drops what is refused', async () => {
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

it('tries again when a server cannot take it now, and writes it once although the answer was lost', async () => {
  const server = new TestApiServer();
  const client = new RestClient({ servers: [await server.start()] });
  const clock = new TestClock();
  const recorder = new EventRecorder({ client, component: 'tester', logger: quietLogger, clock });
  const regarding = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n' } };
  server.faults.push({ statusCode: 503 });
  recorder.event(regarding, 'Normal', 'Done', 'well');
  await eventually('the first attempt', () => server.requests.length === 1);
  server.lostAnswerCount = 1;
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
