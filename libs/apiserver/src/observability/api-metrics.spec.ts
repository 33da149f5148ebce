import { Metrics } from '@orch/component';
import { expect, it } from 'vitest';
import { parseRequestInfo } from '../request/request-info.js';
import { InFlight } from '../server/in-flight.js';
import { ApiMetrics } from './api-metrics.js';

function counted() {
  const metrics = new Metrics();
  return { metrics, api: new ApiMetrics(metrics, new InFlight({ readOnly: 0, mutating: 0 })) };
}

it('counts alike requests together and sorts their durations into buckets', async () => {
  const { metrics, api } = counted();
  for (const [name, code, seconds] of [
    ['a', 200, 0.01],
    ['b', 200, 0.07],
    ['c', 200, 100],
    ['d', 404, 0.01],
  ] as const) {
    const info = parseRequestInfo('GET', `/api/v1/namespaces/x/pods/${name}`, false);
    api.finished(info, code, seconds);
  }
  const text = await metrics.render();
  const labels =
    'component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="",verb="GET",version="v1"';
  expect(text).toMatch(/^apiserver_request_total\{[^}]*resource="pods"[^}]*code="200"\} 3$/m);
  expect(text).toMatch(/^apiserver_request_total\{[^}]*resource="pods"[^}]*code="404"\} 1$/m);
  const name = 'apiserver_request_duration_seconds';
  expect(text).toContain(`# TYPE ${name} histogram`);
  expect(text).toContain(`${name}_bucket{le="0.05",${labels}} 2\n`);
  expect(text).toContain(`${name}_bucket{le="0.1",${labels}} 3\n`);
  expect(text).toContain(`${name}_bucket{le="60",${labels}} 3\n`);
  expect(text).toContain(`${name}_bucket{le="+Inf",${labels}} 4\n`);
  expect(text).toContain(`${name}_count{${labels}} 4\n`);
  expect(text).toContain(`${name}_sum{${labels}} 100.09\n`);
  expect(await metrics.render()).toContain('code="404"} 1\n');
});

it('keeps few series whatever paths clients make up', async () => {
  const { metrics, api } = counted();
  for (let index = 0; index < 1_000; index += 1) {
    const path = `/api/v1/namespaces/x/pods/a/made-up-${index}`;
    api.finished(parseRequestInfo('GET', path, false), 404, 0.01);
  }
  const text = await metrics.render();
  expect(text.match(/^apiserver_request_total\{/gm)).toHaveLength(257);
  expect(text).toMatch(/^apiserver_request_total\{[^}]*verb="other"[^}]*\} 744$/m);
});
