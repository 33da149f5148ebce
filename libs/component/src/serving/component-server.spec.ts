import { describe, expect, it } from 'vitest';
import { systemClock } from '../clock.js';
import { HealthChecks, pingCheck } from '../health/health-checks.js';
import { createLogger } from '../logging/create-logger.js';
import { Metrics } from '../metrics/metrics.js';
import { ComponentServer } from './component-server.js';
import { DelegatedAuthorizer } from './request-authorizer.js';

const logger = createLogger({
  component: 'test',
  format: 'text',
  level: 'error',
  write: () => undefined,
});

/** An API server's reviews with one token and one permitted path, counting the questions. */
function reviews() {
  const asked: string[] = [];
  const postReview = async (path: string, body: object) => {
    asked.push(path);
    const { spec } = body as {
      spec: { token?: string; user?: string; nonResourceAttributes?: { path: string } };
    };
    if (path.endsWith('/tokenreviews')) {
      const username = { good: 'scraper', operator: 'operator' }[spec.token ?? ''];
      return { status: { authenticated: username !== undefined, user: { username } } };
    }
    const { user, nonResourceAttributes } = spec;
    const allowed =
      user === 'operator' || (user === 'scraper' && nonResourceAttributes?.path === '/metrics');
    return { status: { allowed } };
  };
  return { asked, postReview };
}

async function withServer(
  run: (get: (path: string, token?: string) => Promise<Response>, asked: string[]) => Promise<void>,
  { profiling = true } = {},
) {
  const health = new HealthChecks();
  health.add(pingCheck);
  const { asked, postReview } = reviews();
  const server = new ComponentServer({
    bindAddress: '127.0.0.1',
    port: 0,
    health,
    metrics: new Metrics(),
    configuration: () => ({ test: { port: 1 } }),
    authorizer: new DelegatedAuthorizer({
      postReview,
      tokenTtlMs: 10_000,
      authorizedTtlMs: 10_000,
      unauthorizedTtlMs: 10_000,
      clock: systemClock,
      allowAnonymous: true,
    }),
    alwaysAllowPaths: ['/healthz', '/livez', '/readyz'],
    profiling,
    contentionProfiling: true,
    logger,
  });
  await server.start();
  try {
    await run(
      (path, token) =>
        fetch(`http://127.0.0.1:${server.port}${path}`, {
          headers: token ? { authorization: `Bearer ${token}` } : {},
        }),
      asked,
    );
  } finally {
    await server.stop();
  }
}

describe('ComponentServer', () => {
  it('serves health without credentials', () =>
    withServer(async (get, asked) => {
      const answer = await get('/readyz?verbose');
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(await answer.text()).toBe('[+]ping ok\nreadyz check passed\n');
      expect(asked).toEqual([]);
    }));

  it('authorizes all other paths at the API server and caches the decision', () =>
    withServer(async (get, asked) => {
      expect((await get('/metrics')).status).toBe(403);
      expect((await get('/metrics', 'bad')).status).toBe(401);
      expect((await get('/configz', 'good')).status).toBe(403);
      const questionCount = asked.length;
      for (let round = 0; round < 3; round += 1) {
        const answer = await get('/metrics', 'good');
        expect(answer.status).toBe(200);
        expect(await answer.text()).toContain('process_cpu_seconds_total');
      }
      expect(asked.length).toBe(questionCount + 1);
    }));

  it('serves the configuration and profiles to permitted users', () =>
    withServer(async (get) => {
      const read = async (path: string) => {
        const response = await get(path, 'operator');
        expect(response.status).toBe(200);
        return response.text();
      };
      expect(JSON.parse(await read('/configz'))).toEqual({ test: { port: 1 } });
      const paths = (await read('/debug/pprof/')).trim().split('\n');
      expect(paths).toEqual(
        ['allocs', 'block', 'goroutine', 'heap', 'profile'].map((name) => `/debug/pprof/${name}`),
      );
      const resources = JSON.parse(await read('/debug/pprof/goroutine')).activeResources;
      expect(resources.TCPServerWrap).toBeGreaterThan(0);
      expect(JSON.parse(await read('/debug/pprof/heap')).heap.used_heap_size).toBeGreaterThan(0);
      expect(JSON.parse(await read('/debug/pprof/block'))).toMatchObject({
        sampleCount: expect.any(Number),
        utilization: expect.any(Number),
      });
      const allocations = JSON.parse(await read('/debug/pprof/allocs?seconds=1'));
      expect(allocations).toHaveProperty('head.children');
      const [first, second] = await Promise.all([
        get('/debug/pprof/profile?seconds=1', 'operator'),
        get('/debug/pprof/profile?seconds=1', 'operator'),
      ]);
      expect([first.status, second.status].sort()).toEqual([200, 503]);
      expect((await get('/debug/pprof/nothing', 'operator')).status).toBe(404);
    }));

  it('serves no profiles without the flag', () =>
    withServer(
      async (get) => {
        expect((await get('/debug/pprof/', 'operator')).status).toBe(404);
        expect((await get('/debug/pprof/heap', 'operator')).status).toBe(404);
        expect((await get('/configz', 'operator')).status).toBe(200);
      },
      { profiling: false },
    ));

  it('responds with 404 to unknown paths', () =>
    withServer(async (get) => {
      expect((await get('/healthz/nope', 'good')).status).toBe(403);
      expect((await get('/nope', 'bad')).status).toBe(401);
    }));
});
