import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dialect, systemClock } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import type { ImageReview } from '@orch/types/imagepolicy/v1alpha1';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PluginDependencies } from '../../plugin.js';
import { type Admitting, admit, refusalOf } from '../../testing/admit.js';
import type { ImagePolicyOptions } from './configuration.js';
import { imagePolicyRule } from './image-policy-webhook.js';

let server: Server;
let reviews: ImageReview[];
let respond: () => { code: number; body: string };

beforeEach(async () => {
  reviews = [];
  respond = () => ({ code: 200, body: JSON.stringify({ status: { allowed: true } }) });
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    reviews.push(JSON.parse(Buffer.concat(chunks).toString()));
    const { code, body } = respond();
    response.writeHead(code, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function rulesWith(options: Partial<ImagePolicyOptions> = {}) {
  const { port } = server.address() as AddressInfo;
  const logger = { warn: () => undefined } as unknown as PluginDependencies['logger'];
  const rule = imagePolicyRule(
    {
      connection: { server: `http://127.0.0.1:${port}/review` },
      ...{ allowTtlMs: 60_000, denyTtlMs: 60_000, retryBackoffMs: 1, defaultAllow: false },
      ...options,
    },
    { clock: systemClock, random: Math.random, logger },
  );
  return [rule];
}

const podWith = (image: string): Pod => ({
  metadata: {
    name: 'p',
    namespace: 'ns',
    annotations: { [dialect().key('ticket', 'x.image-policy')]: '1', other: '2' },
  },
  spec: {
    containers: [{ name: 'a', image }],
    initContainers: [{ name: 'b', image: 'init' }],
    ephemeralContainers: [{ name: 'e', image: 'debug' }],
  },
});
const soon = (): Admitting => ({ deadlineMs: systemClock.monotonicMs() + 5_000 });

describe('ImagePolicyWebhook', () => {
  it('sends images, namespace and its annotations, and caches the response', async () => {
    const rules = rulesWith();
    await admit(podWith('main'), { rules, ...soon() });
    await admit(podWith('main'), { rules, ...soon() });
    expect(reviews).toEqual([
      {
        apiVersion: dialect().apiVersion('imagepolicy', 'v1alpha1'),
        kind: 'ImageReview',
        metadata: {},
        spec: {
          containers: [{ image: 'main' }, { image: 'init' }],
          annotations: { [dialect().key('ticket', 'x.image-policy')]: '1' },
          namespace: 'ns',
        },
      },
    ]);
  });

  it('reviews ephemeral containers', async () => {
    const pod = podWith('main');
    await admit(pod, {
      ...soon(),
      ...{ rules: rulesWith(), old: pod, subresource: 'ephemeralcontainers' },
    });
    expect(reviews[0]?.spec.containers).toEqual([{ image: 'debug' }]);
  });

  it('rejects images that the webhook denies', async () => {
    respond = () => ({
      code: 200,
      body: JSON.stringify({ status: { allowed: false, reason: 'unsigned' } }),
    });
    const rules = rulesWith({ denyTtlMs: 0 });
    const text = 'image policy webhook backend denied one or more images: unsigned';
    expect(await refusalOf(admit(podWith('a'), { rules, ...soon() }))).toContain(text);
    expect(await refusalOf(admit(podWith('a'), { rules, ...soon() }))).toContain(text);
    expect(reviews).toHaveLength(2);
  });

  it('retries server errors, and then rejects or admits by the default', async () => {
    respond = () => ({ code: reviews.length < 3 ? 500 : 200, body: '{"status":{"allowed":true}}' });
    await admit(podWith('a'), { rules: rulesWith(), ...soon() });
    expect(reviews).toHaveLength(3);
    respond = () => ({ code: 403, body: '{}' });
    const rejected = admit(podWith('a'), { rules: rulesWith(), ...soon() });
    expect(await refusalOf(rejected)).toContain('Error contacting webhook: 403');
    const pod = podWith('a');
    await admit(pod, { rules: rulesWith({ defaultAllow: true }), ...soon() });
    const marked = dialect().key('failed-open', 'alpha.image-policy');
    expect(pod.metadata?.annotations?.[marked]).toBe('true');
  });

  it.each([
    ['no JSON', 'x', 'not JSON'],
    ['another type', '{"status":{"allowed":"yes"}}', 'not an ImageReview'],
    ['a long response', `"${'x'.repeat(1 << 17)}"`, 'longer than'],
  ])('rejects %s', async (_title, body, message) => {
    respond = () => ({ code: 200, body });
    const run = admit(podWith('a'), { rules: rulesWith(), ...soon() });
    expect(await refusalOf(run)).toContain(message);
  });

  it('ends at the deadline of the request', async () => {
    respond = () => ({ code: 500, body: '' });
    const rules = rulesWith({ retryBackoffMs: 60_000 });
    const deadlineMs = systemClock.monotonicMs() + 100;
    expect(await refusalOf(admit(podWith('a'), { rules, deadlineMs }))).toContain(
      'no response in time',
    );
  });
});
