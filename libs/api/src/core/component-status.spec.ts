import { expect, it } from 'vitest';
import { electedStatus } from './component-status.js';

const renewTime = '2026-11-22T12:00:00.000000Z';
const nowMs = Date.parse('2026-11-22T12:00:10Z');

it.each<[object | undefined, string, string | undefined]>([
  [{ holderIdentity: 'a', renewTime, leaseDurationSeconds: 15 }, 'True', undefined],
  [
    { holderIdentity: 'a', renewTime, leaseDurationSeconds: 5 },
    'False',
    'the lease ns/n has not been renewed since 2026-11-22T12:00:00.000000Z',
  ],
  [{ holderIdentity: '', renewTime }, 'False', 'the lease ns/n has no holder'],
  [undefined, 'False', 'the lease ns/n has no holder'],
])('a component with the lease %j is healthy: %s', (spec, status, error) => {
  const lease = spec && { spec };
  const { conditions } = electedStatus('scheduler', 'ns/n', lease, nowMs);
  expect(conditions?.[0]).toMatchObject({ type: 'Healthy', status });
  expect(conditions?.[0]?.error).toBe(error);
});
