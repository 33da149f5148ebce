/** The paths of usage, with the real measurement of this machine. */
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { createLogger, systemClock } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { ProbeCounts } from '../probes/probe-counts.js';
import { machineInfo } from '../registration/machine-info.js';
import { StatsSampler } from '../stats/stats-sampler.js';
import { serveUsage } from './serve-usage.js';

const logger = createLogger({ component: 'test', format: 'text', level: 'fatal' });
const pod = { uid: 'u', namespace: 'default', name: 'probed' };

function setUp() {
  const none = async () => [];
  const runtime = { listContainers: none, listContainerStats: none, listSandboxes: none };
  const stats = new StatsSampler({ runtime, clock: systemClock, logger });
  const prober = { counts: new ProbeCounts() };
  const options = { rootDirectory: tmpdir() };
  const machine = machineInfo(tmpdir());
  const get = async (path: string) => {
    let status = 404;
    let text = '';
    const response = {
      writeHead(code: number) {
        status = code;
      },
      end(body: string) {
        text = body;
      },
    } as unknown as ServerResponse;
    const url = new URL(path, 'http://node');
    const usage = { options, nodeName: 'node-a', machine, stats, prober };
    await serveUsage(usage, url.pathname.slice(1), url.searchParams, response);
    return { status, text };
  };
  return { stats, prober, get };
}

describe('the server of usage', () => {
  it('has no summary before the first measurement', async () => {
    const { get } = setUp();
    expect((await get('/stats/summary')).status).toBe(503);
    expect((await get('/metrics/resource')).text).toContain('\nscrape_error 1\n');
  });

  it('serves the usage of the node', async () => {
    const { stats, get } = setUp();
    await stats.sample();
    const { node } = JSON.parse((await get('/stats/summary')).text);
    expect(node).toMatchObject({ nodeName: 'node-a', fs: { capacityBytes: expect.any(Number) } });
    const slim = await get('/stats/summary?only_cpu_and_memory=true');
    expect(JSON.parse(slim.text).node).not.toHaveProperty('fs');
    expect((await get('/metrics/resource')).text).toMatch(/^node_cpu_usage_seconds_total \d/m);
    expect((await get('/metrics/cadvisor')).text).toMatch(/^machine_memory_bytes \d+$/m);
    expect((await get('/metrics/none')).status).toBe(404);
  });

  it('serves the results of probes until the pod is removed', async () => {
    const { prober, get } = setUp();
    prober.counts.add(pod, 'main', 'readiness', 'success');
    prober.counts.add(pod, 'main', 'readiness', 'success');
    expect((await get('/metrics/probes')).text).toMatch(/pod="probed".*result="successful"\} 2$/m);
    prober.counts.forget('u');
    expect((await get('/metrics/probes')).text).toBe('');
  });
});
