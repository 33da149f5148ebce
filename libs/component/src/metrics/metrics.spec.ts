import { describe, expect, it } from 'vitest';
import { exponentialBuckets } from './histogram.js';
import { Metrics } from './metrics.js';

describe('Metrics', () => {
  it('renders registered, process and event loop metrics and the version', async () => {
    const metrics = new Metrics();
    const counter = metrics.counter({ name: 'pods_total', help: 'Pods seen', labels: ['phase'] });
    counter.inc({ phase: 'Running' });
    metrics
      .counter({ name: 'pods_total', help: 'Pods seen', labels: ['phase'] })
      .inc({ phase: 'Running' });
    metrics.gauge({ name: 'depth', help: 'Depth', collect: (gauge) => gauge.set(7) });
    const text = await metrics.render();
    expect(text).toContain('# HELP pods_total [ALPHA] Pods seen');
    expect(text).toContain('pods_total{phase="Running"} 2');
    expect(text).toContain('depth 7');
    expect(text).toMatch(/nodejs_eventloop_lag_p99_seconds \d/);
    expect(text).toMatch(/process_resident_memory_bytes \d/);
    expect(text).not.toContain('nodejs_active_');
    expect(text).toMatch(/orch_build_info\{major="1",minor="21"/);
  });

  it('renders a metric without labels before its first value', async () => {
    const metrics = new Metrics();
    metrics.counter({ name: 'faults_total', help: 'Faults' });
    metrics.histogram({ name: 'sync_seconds', help: 'Syncs', buckets: [1] });
    const text = await metrics.render();
    expect(text).toContain('\nfaults_total 0\n');
    expect(text).toContain('\nsync_seconds_count 0\n');
  });

  it('renders cumulative buckets with bounds as dashboards spell them', async () => {
    const metrics = new Metrics();
    const sizes = metrics.histogram({
      name: 'size_bytes',
      help: 'Sizes',
      labels: ['verb'],
      buckets: [5e-6, 0.0001, 0.5, 1_000, 1e6, 2.592e6],
    });
    const series = sizes.labels({ verb: 'GET' });
    for (const value of [0.5, 0.6, 1e6, 1e9]) series.observe(value);
    sizes.observe({ verb: 'GET' }, 0);
    const lines = (await metrics.render())
      .split('\n')
      .filter((line) => line.startsWith('size_bytes'));
    expect(lines).toEqual([
      'size_bytes_bucket{le="5e-06",verb="GET"} 1',
      'size_bytes_bucket{le="0.0001",verb="GET"} 1',
      'size_bytes_bucket{le="0.5",verb="GET"} 2',
      'size_bytes_bucket{le="1000",verb="GET"} 3',
      'size_bytes_bucket{le="1e+06",verb="GET"} 4',
      'size_bytes_bucket{le="2.592e+06",verb="GET"} 4',
      'size_bytes_bucket{le="+Inf",verb="GET"} 5',
      'size_bytes_sum{verb="GET"} 1001000001.1',
      'size_bytes_count{verb="GET"} 5',
    ]);
  });

  it('computes quantiles of the latest observations', async () => {
    const metrics = new Metrics();
    const summary = metrics.summary({ name: 'step_seconds', help: 'Steps' }).labels({});
    expect(await metrics.render()).toContain('step_seconds{quantile="0.5"} Nan');
    for (let index = 0; index < 1_024; index += 1) summary.observe(1_000);
    for (let index = 1; index <= 1_024; index += 1) summary.observe(index);
    const text = await metrics.render();
    expect(text).toContain('step_seconds{quantile="0.5"} 512\n');
    expect(text).toContain('step_seconds{quantile="0.99"} 1014\n');
    expect(text).toContain('step_seconds_count 2048\n');
  });

  it('computes exponential bounds by repeated multiplication', () => {
    expect(exponentialBuckets(10e-9, 10, 4)).toEqual([1e-8, 1e-7, 1e-6, 9.999999999999999e-6]);
  });
});
