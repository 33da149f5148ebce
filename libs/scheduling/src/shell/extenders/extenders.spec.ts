import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '@orch/component';
import { afterEach, describe, expect, it } from 'vitest';
import type { ExtenderOptions } from '../../configuration/extender-configuration.js';
import { clusterOf, info, node, pod } from '../../testing/builders.js';
import { ExtenderClient } from './extender-client.js';
import { Extenders } from './extenders.js';

const logger = { warn: () => undefined } as unknown as Logger;
const servers: Server[] = [];
const started: Extenders[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((extenders) => extenders.close()));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

type Reply = (verb: string, body: Record<string, unknown>) => unknown;

/** Starts an extender that replies with JSON; without a reply it never responds. */
async function extender(reply: Reply, options: Partial<ExtenderOptions> = {}) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      const value = reply(request.url!.slice(1), body);
      if (value !== undefined) response.end(JSON.stringify(value));
    });
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return new ExtenderClient({
    urlPrefix: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    filterVerb: 'filter',
    prioritizeVerb: 'prioritize',
    preemptVerb: 'preempt',
    bindVerb: 'bind',
    weight: 2,
    timeoutMs: 5_000,
    nodeCacheCapable: true,
    ignorable: false,
    managedResources: [],
    ignoredResources: [],
    ...options,
  });
}

async function extendersOf(reply: Reply, options: Partial<ExtenderOptions> = {}) {
  const extenders = new Extenders([await extender(reply, options)], logger);
  started.push(extenders);
  return extenders;
}

const nodes = clusterOf(node('a'), node('b')).snapshot().nodes;
const names = (found: readonly { name: string }[]) => found.map(({ name }) => name);

describe('an extender', () => {
  it('removes nodes with its reasons, whatever the case of its fields', async () => {
    const extenders = await extendersOf((_, body) => ({
      nodenames: (body.NodeNames as string[]).filter((name) => name !== 'a'),
      failednodes: { a: 'no licence' },
    }));
    const { feasible, rejections } = await extenders.filter(pod(), nodes);
    expect(names(feasible)).toEqual(['b']);
    expect(rejections.get('a')).toMatchObject({ reasons: ['no licence'], isFinal: false });
  });

  it('gets whole nodes unless it knows them', async () => {
    const extenders = await extendersOf((_, body) => ({ Nodes: body.Nodes }), {
      nodeCacheCapable: false,
    });
    expect(names((await extenders.filter(pod(), nodes)).feasible)).toEqual(['a', 'b']);
  });

  it('adds its scores with its weight', async () => {
    const extenders = await extendersOf(() => [{ Host: 'b', Score: 3 }]);
    expect(await extenders.prioritize(pod(), nodes)).toEqual(new Map([['b', 60]]));
  });

  it('is called only for pods with a managed resource', async () => {
    const extenders = await extendersOf(() => ({ NodeNames: [] }), {
      managedResources: ['example.com/card'],
    });
    expect((await extenders.filter(pod(), nodes)).feasible).toHaveLength(2);
    const card = pod({ requests: { 'example.com/card': '1' } });
    expect((await extenders.filter(card, nodes)).feasible).toEqual([]);
  });

  it('reduces the candidates of a preemption', async () => {
    const victim = info({ name: 'victim' });
    const candidates = ['a', 'b'].map((on) => ({
      node: on,
      victims: [victim],
      violationCount: 0,
    }));
    const extenders = await extendersOf((_, body) => ({
      NodeNameToMetaVictims: { b: (body.NodeNameToMetaVictims as Record<string, object>).b },
    }));
    expect(await extenders.preempt(pod(), candidates)).toEqual([candidates[1]]);
  });

  it('binds, and reports its error', async () => {
    const bodies: object[] = [];
    const extenders = await extendersOf((_, body) => {
      bodies.push(body);
      return { Error: body.Node === 'b' ? 'full' : '' };
    });
    const bound = pod({ name: 'x' });
    await extenders.binderOf(bound)!.bind(bound, 'a');
    expect(bodies[0]).toMatchObject({ PodName: 'x', PodNamespace: 'default', Node: 'a' });
    await expect(extenders.binderOf(bound)!.bind(bound, 'b')).rejects.toThrow(/full/);
  });
});

describe('an extender that fails', () => {
  const failures: [string, Reply, Partial<ExtenderOptions>, RegExp][] = [
    ['never responds', () => undefined, { timeoutMs: 50 }, /no response within 50 ms/],
    ['adds a node', () => ({ NodeNames: ['c'] }), {}, /node c that was not in the request/],
    ['responds with a list', () => [], {}, /is not a map/],
    ['reports an error', () => ({ Error: 'broken' }), {}, /broken/],
  ];

  it.each(failures)('%s: fails the attempt', async (_, reply, options, message) => {
    const extenders = await extendersOf(reply, options);
    await expect(extenders.filter(pod(), nodes)).rejects.toThrow(message);
  });

  it.each(failures)('%s: is skipped if it is ignorable', async (_, reply, options) => {
    const extenders = await extendersOf(reply, { ...options, ignorable: true });
    expect((await extenders.filter(pod(), nodes)).feasible).toHaveLength(2);
  });

  it('has no effect on scores', async () => {
    const extenders = await extendersOf(() => [{ Host: 'a', Score: 1_000_000 }]);
    expect(await extenders.prioritize(pod(), nodes)).toEqual(new Map());
  });

  it('cannot name victims of its own', async () => {
    const candidate = { node: 'a', victims: [info({ name: 'victim' })], violationCount: 0 };
    const extenders = await extendersOf(() => ({
      NodeNameToMetaVictims: { a: { Pods: [{ UID: 'foreign' }], NumPDBViolations: 0 } },
    }));
    await expect(extenders.preempt(pod(), [candidate])).rejects.toThrow(/not among those proposed/);
  });
});
