import { describe, expect, it } from 'vitest';
import { TestClock } from '../testing/test-clock.js';
import { BootChecks } from './boot-checks.js';
import { HealthChecks } from './health-checks.js';

describe('BootChecks', () => {
  it('fail until the step is complete, on livez only after the grace period', async () => {
    const clock = new TestClock();
    const health = new HealthChecks(clock);
    const checks = new BootChecks(health, { graceMs: 1_000, isBlocked: () => false, clock });
    let isDone = false;
    checks.add('poststarthook/roles', () => (isDone ? undefined : 'no roles yet'));
    const codes = async () =>
      Promise.all(
        (['healthz', 'livez', 'readyz'] as const).map(
          async (endpoint) => (await health.reportOne(endpoint, 'poststarthook/roles'))?.statusCode,
        ),
      );
    expect(await codes()).toEqual([500, 200, 500]);
    await clock.advance(1_000);
    expect(await codes()).toEqual([500, 500, 500]);
    expect((await health.reportOne('livez', 'poststarthook/roles'))?.body).toBe(
      'internal server error: no roles yet\n',
    );
    isDone = true;
    expect(await codes()).toEqual([200, 200, 200]);
  });

  it('pass on livez while a restart would not help', async () => {
    const clock = new TestClock();
    const health = new HealthChecks(clock);
    let isBlocked = true;
    const checks = new BootChecks(health, { graceMs: 0, isBlocked: () => isBlocked, clock });
    checks.add('step', () => 'missing');
    expect(await health.reportOne('livez', 'step')).toMatchObject({ statusCode: 200 });
    expect(await health.reportOne('readyz', 'step')).toMatchObject({ statusCode: 500 });
    isBlocked = false;
    expect(await health.reportOne('livez', 'step')).toMatchObject({ statusCode: 500 });
  });
});
