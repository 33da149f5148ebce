import { Metrics } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { differingMetrics, parseMetrics } from '../../../../test/conformance/metric-facts.js';
import { TestApiServer } from '../../test/test-api-server.js';
import { isNotFound } from './api-error.js';
import { ClientMetrics, urlLabel } from './client-metrics.js';
import { RestClient } from './rest-client.js';
import { TransportError } from './transport-error.js';

const pods = { group: 'core', version: 'v1', plural: 'pods' };

describe('metrics of a client', () => {
  let server: TestApiServer;
  let url: string;

  beforeEach(async () => {
    server = new TestApiServer();
    url = await server.start();
  });

  afterEach(() => server.stop());

  it('measure attempts, latencies and waits', async () => {
    const metrics = new Metrics();
    const client = new RestClient({ servers: [url], metrics: new ClientMetrics(metrics) });
    const handle = client.resource(pods, 'default');
    await handle.create({ metadata: { name: 'web' } });
    server.faults.push({ statusCode: 503, retryAfter: '0' });
    await handle.get('web');
    await expect(handle.get('none')).rejects.toSatisfy(isNotFound);
    await server.stop();
    await expect(handle.get('web', { sendOnce: true })).rejects.toBeInstanceOf(TransportError);
    await client.close();
    const text = await metrics.render();
    const count = (code: string, method: string) =>
      `rest_client_requests_total{code="${code}",host="${new URL(url).host}",method="${method}"}`;
    expect(text).toContain(`${count('503', 'GET')} 1\n`);
    expect(text).toContain(`${count('201', 'POST')} 1\n`);
    expect(text).toContain(`${count('200', 'GET')} 1\n`);
    expect(text).toContain(`${count('404', 'GET')} 1\n`);
    expect(text).toContain(`${count('<error>', 'GET')} 1\n`);
    const collection = `${url}/api/v1/namespaces/%7Bnamespace%7D/pods`;
    const series = (name: string, verb: string, path: string) =>
      `rest_client_${name}_duration_seconds_count{verb="${verb}",url="${path}"}`;
    expect(text).toContain(`${series('request', 'POST', collection)} 1\n`);
    expect(text).toContain(`${series('rate_limiter', 'GET', `${collection}/%7Bname%7D`)} 4\n`);
    expect(text).toContain(`${series('request', 'GET', `${collection}/%7Bname%7D`)} 3\n`);
    expect(differingMetrics(parseMetrics(text))).toEqual({});
  });
});

it.each([
  ['/api/v1/nodes', '/api/v1/nodes'],
  ['/api/v1/nodes/a', '/api/v1/nodes/%7Bname%7D'],
  ['/api/v1/namespaces/a', '/api/v1/namespaces/%7Bname%7D'],
  ['/api/v1/namespaces/a/pods', '/api/v1/namespaces/%7Bnamespace%7D/pods'],
  ['/apis/apps/v1/deployments', '/apis/apps/v1/deployments'],
  [
    '/apis/apps/v1/namespaces/a/deployments/b/scale',
    '/apis/apps/v1/namespaces/%7Bnamespace%7D/deployments/%7Bname%7D/scale',
  ],
  [
    '/api/v1/namespaces/a/services/b/proxy/c/d',
    '/api/v1/namespaces/%7Bnamespace%7D/services/%7Bname%7D/proxy',
  ],
  ['/readyz', '/%7Bprefix%7D'],
  ['/apis/apps', '/%7Bprefix%7D'],
])('%s is labelled as %s', (path, label) => {
  expect(urlLabel(new URL('https://server:6443/base'), path)).toBe(`https://server:6443${label}`);
});
