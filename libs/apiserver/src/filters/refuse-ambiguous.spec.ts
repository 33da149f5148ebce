import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { parseRequestInfo } from '../http/request-info.js';
import { testContext } from '../testing/test-context.js';
import { refuseAmbiguous } from './refuse-ambiguous.js';

const service = '/api/v1/namespaces/n/services/s/proxy';

/** The message of the refusal; undefined if the request is passed on. */
async function refusal(path: string, rawHeaders = ['Host', 'x']): Promise<string | undefined> {
  const request = { rawHeaders, httpVersion: '1.1' } as IncomingMessage;
  const context = testContext(request, { shouldKeepAlive: true } as ServerResponse);
  context.info = parseRequestInfo('GET', path, false);
  try {
    await refuseAmbiguous(async () => undefined)(context);
    return undefined;
  } catch (error) {
    expect((context.response as ServerResponse).shouldKeepAlive).toBe(false);
    return (error as Error).message;
  }
}

it.each([
  ...['/api/v1/pods', '/healthz', '/', `${service}/a`],
  // Names may have dots, and characters that clients encode.
  ...['/apis/a.b/v1/namespaces/n/roles/..x', '/apis/a.b/v1/namespaces/n/roles/system%3Ax'],
  // The target of a proxy reads the rest itself.
  ...[`${service}/../x`, `${service}/../`, `${service}/a%2Fb`, `${service}/%2e%2e/b/`],
])('passes %s on', async (path) => {
  expect(await refusal(path)).toBeUndefined();
});

it.each([
  '/api/v1/namespaces/n/services/../s',
  '/api/v1/namespaces/n%2Fservices/s/proxy/a',
  '/api/v1/namespaces/n/services/%2E%2E/proxy/a',
  '/healthz/.',
  '/a%0Ab',
])('refuses %s', async (path) => {
  expect(await refusal(path)).toBe(`malformed path ${path}`);
});

it.each([
  [[], 'missing required Host header'],
  [['Host', 'x', 'HOST', 'x'], 'too many Host headers'],
  [
    ['Host', 'x', 'Authorization', 'Bearer a', 'authorization', 'Bearer b'],
    'too many Authorization headers',
  ],
])('refuses the headers %j', async (rawHeaders, message) => {
  expect(await refusal('/api', rawHeaders)).toBe(message);
});
