import { Metrics } from '@orch/component';
import { expect, it } from 'vitest';
import { SchedulerMetrics } from './scheduler-metrics.js';

function measured(shownRelease = '') {
  const metrics = new Metrics(shownRelease);
  return { metrics, scheduler: new SchedulerMetrics(metrics) };
}

it('records how long pods waited for their node, by the number of attempts', async () => {
  const { metrics, scheduler } = measured();
  for (const attemptCount of [1, 1, 14, 15, 40]) scheduler.scheduled(attemptCount, 30);
  const text = await metrics.render();
  const name = 'scheduler_pod_scheduling_duration_seconds';
  expect(text).toContain(`${name}_bucket{le="0.02",attempts="1"} 0\n`);
  expect(text).toContain(`${name}_bucket{le="0.04",attempts="1"} 2\n`);
  expect(text).toContain(`${name}_count{attempts="14"} 1\n`);
  expect(text).toContain(`${name}_count{attempts="15+"} 2\n`);
  expect(text).toContain('scheduler_pod_scheduling_attempts_bucket{le="16"} 4\n');
});

it('hides deprecated metrics unless their release is shown', async () => {
  const name = 'scheduler_binding_duration_seconds';
  for (const [release, isShown] of [
    ['', false],
    ['1.20', true],
  ] as const) {
    const { metrics, scheduler } = measured(release);
    scheduler.binding(5);
    expect((await metrics.render()).includes(`${name}_count 1`)).toBe(isShown);
  }
});
