import { definitions } from '@orch/api';
import { Metrics } from '@orch/component';
import { ResourceTable } from '@orch/registry';
import { expect, it } from 'vitest';
import { InFlight } from '../flowcontrol/in-flight.js';
import { Query } from '../http/query.js';
import type { RequestContext } from '../http/request-context.js';
import { parseRequestInfo } from '../http/request-info.js';
import { dryRunLabel, scopeLabel, verbLabel } from './request-labels.js';
import { RequestMetrics } from './request-metrics.js';

const table = new ResourceTable(definitions);
const pods = table.find('', 'v1', 'pods');

function measured() {
  const metrics = new Metrics();
  return {
    metrics,
    requests: new RequestMetrics(metrics, new InFlight({ readOnly: 0, mutating: 0 })),
  };
}

function completed(statusCode: number, more: Partial<RequestContext> = {}): RequestContext {
  return { response: { statusCode }, bodyBytes: 0, aborted: false, ...more } as RequestContext;
}

it('counts similar requests together and sorts durations and sizes into buckets', async () => {
  const { metrics, requests } = measured();
  for (const [code, seconds, bodyBytes] of [
    [200, 0.01, 900],
    [200, 0.07, 1_000],
    [200, 100, 2_000],
    [404, 0.01, 0],
  ] as const) {
    requests
      .route(pods, 'GET', 'resource', '', '')
      .finished(completed(code, { bodyBytes }), seconds);
  }
  const text = await metrics.render();
  const labels = 'group="",version="v1",resource="pods",subresource="",scope="resource",verb="GET"';
  expect(text).toContain(
    `apiserver_request_total{${labels},code="200",component="apiserver",dry_run=""} 3\n`,
  );
  expect(text).toContain(
    `apiserver_request_total{${labels},code="404",component="apiserver",dry_run=""} 1\n`,
  );
  const durations = 'apiserver_request_duration_seconds';
  const all = `${labels},component="apiserver",dry_run=""`;
  expect(text).toContain(`# HELP ${durations} [STABLE] `);
  expect(text).toContain(`${durations}_bucket{le="0.05",${all}} 2\n`);
  expect(text).toContain(`${durations}_bucket{le="0.1",${all}} 3\n`);
  expect(text).toContain(`${durations}_bucket{le="60",${all}} 3\n`);
  expect(text).toContain(`${durations}_bucket{le="+Inf",${all}} 4\n`);
  expect(text).toContain(`${durations}_sum{${all}} 100.09\n`);
  const sizes = 'apiserver_response_sizes_bucket';
  expect(text).toContain(`${sizes}{le="1000",${labels},component="apiserver"} 3\n`);
  expect(text).toContain(`${sizes}{le="10000",${labels},component="apiserver"} 4\n`);
});

it('measures the responses of reads only', async () => {
  const { metrics, requests } = measured();
  requests.route(pods, 'POST', 'namespace', '', '').finished(completed(201), 0.1);
  requests.route(undefined, 'GET', '', '', '').finished(completed(200), 0.1);
  expect(await metrics.render()).not.toContain('apiserver_response_sizes_bucket');
});

it('counts rejected, terminated and aborted requests', async () => {
  const { metrics, requests } = measured();
  const route = requests.route(pods, 'LIST', 'cluster', '', '');
  requests.refused(route, 'readOnly');
  route.terminated('504');
  route.finished(completed(200, { aborted: true }), 60);
  const text = await metrics.render();
  const labels = 'group="",version="v1",resource="pods",subresource="",scope="cluster",verb="LIST"';
  expect(text).toContain('apiserver_dropped_requests_total{request_kind="readOnly"} 1\n');
  const terminations = 'apiserver_request_terminations_total';
  expect(text).toContain(`${terminations}{${labels},code="429",component="apiserver"} 1\n`);
  expect(text).toContain(`${terminations}{${labels},code="504",component="apiserver"} 1\n`);
  expect(text).toContain(`apiserver_request_aborts_total{${labels}} 1\n`);
});

it('reports requested deprecated versions with their removed release', async () => {
  const { metrics, requests } = measured();
  const leases = (version: string) => table.find('coordination.orch.io', version, 'leases');
  requests.route(leases('v1'), 'LIST', 'cluster', '', '');
  requests.route(leases('v1beta1'), 'LIST', 'cluster', '', '');
  const lines = (await metrics.render())
    .split('\n')
    .filter((line) => line.startsWith('apiserver_requested_deprecated_apis'));
  expect(lines).toEqual([
    'apiserver_requested_deprecated_apis{group="coordination.orch.io",version="v1beta1",resource="leases",subresource="",removed_release="1.22"} 1',
  ]);
});

it.each([
  ['GET', '/api/v1/namespaces/x/pods/a', '', 'GET', 'resource'],
  ['HEAD', '/api/v1/namespaces/x/pods/a', '', 'GET', 'resource'],
  ['GET', '/api/v1/namespaces/x/pods', '', 'LIST', 'namespace'],
  ['GET', '/api/v1/pods', '', 'LIST', 'cluster'],
  ['GET', '/api/v1/watch/pods', '', 'WATCH', 'cluster'],
  ['POST', '/api/v1/namespaces/x/pods', '', 'POST', 'namespace'],
  ['PUT', '/api/v1/namespaces/x/pods/a', '', 'PUT', 'resource'],
  ['PATCH', '/api/v1/namespaces/x/pods/a', 'application/merge-patch+json', 'PATCH', 'resource'],
  ['PATCH', '/api/v1/namespaces/x/pods/a', 'application/apply-patch+yaml', 'APPLY', 'resource'],
  ['DELETE', '/api/v1/namespaces/x/pods/a', '', 'DELETE', 'resource'],
  ['DELETE', '/api/v1/namespaces/x/pods', '', 'DELETECOLLECTION', 'namespace'],
  ['POST', '/api/v1/namespaces/x/pods/a/exec', '', 'CONNECT', 'resource'],
  ['GET', '/api/v1/namespaces/x/services/a/proxy/path', '', 'CONNECT', 'resource'],
  ['GET', '/version', '', 'GET', ''],
  ['BREW', '/version', '', 'other', ''],
])('%s %s %s is %s of scope "%s"', (method, path, contentType, verb, scope) => {
  const info = parseRequestInfo(method, path, false);
  expect(verbLabel(info, contentType)).toBe(verb);
  expect(scopeLabel(info)).toBe(scope);
});

it('labels dry runs and invalid dry-run options', () => {
  expect(dryRunLabel(new Query('watch=1'))).toBe('');
  expect(dryRunLabel(new Query('dryRun=All&dryRun=All'))).toBe('All');
  expect(dryRunLabel(new Query('dryRun=All&dryRun=Some'))).toBe('invalid');
});
