import { expect, it } from 'vitest';
import { exponentialBuckets, Metrics } from './metrics.js';

it('renders own, process and event loop metrics and the version', async () => {
  const metrics = new Metrics();
  const counter = metrics.counter({ name: 'pods_total', help: 'Pods seen', labels: ['phase'] });
  counter.inc({ phase: 'Running' });
  metrics
    .counter({ name: 'pods_total', help: 'Pods seen', labels: ['phase'] })
    .inc({ phase: 'Running' });
  metrics.gauge({ name: 'depth', help: 'Depth', collect: (gauge) => gauge.set(7) });
  metrics
    .histogram({ name: 'sync_seconds', help: 'Syncs', buckets: exponentialBuckets(0.1, 10, 2) })
    .observe(0.5);
  const text = await metrics.render();
  expect(text).toContain('# HELP pods_total [ALPHA] Pods seen');
  expect(text).toContain('pods_total{phase="Running"} 2');
  expect(text).toContain('depth 7');
  expect(text).toContain('sync_seconds_bucket{le="1"} 1');
  expect(text).toMatch(/nodejs_eventloop_lag_p99_seconds \d/);
  expect(text).toMatch(/process_resident_memory_bytes \d/);
  expect(text).toMatch(/orch_build_info\{major="1",minor="21"/);
});
