/** The whole proxy, with an API that only lists and watches, in both ways of having addresses. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { RestClient } from '@orch/client';
import { createLogger, Metrics, parseOptions, systemClock } from '@orch/component';
import type { Endpoints, Service, ServiceSpec } from '@orch/types/core/v1';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProxyOptions } from './proxy-options.js';
import { ServiceProxy } from './service-proxy.js';

const logger = createLogger({ component: 'test', format: 'text', level: 'fatal' });
const isRoot = process.getuid?.() === 0;

/** Services and endpoints by name, listed and watched. */
class ListWatchApi {
  private readonly objects = new Map<string, Service | Endpoints>();
  private readonly watchers = new Map<ServerResponse, string>();
  private version = 1;
  readonly server = createHttpServer((request, response) => {
    const url = new URL(request.url!, 'http://api');
    const plural = url.pathname.split('/').at(-1)!;
    response.setHeader('content-type', 'application/json');
    if (url.searchParams.has('watch')) {
      this.watchers.set(response, plural);
      response.flushHeaders();
      const since = Number(url.searchParams.get('resourceVersion'));
      for (const [key, object] of this.objects) {
        const isNew = Number(object.metadata?.resourceVersion) > since;
        if (!isNew || !key.startsWith(`${plural}/`)) continue;
        response.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
      }
      return;
    }
    const items = [...this.objects]
      .filter(([key]) => key.startsWith(`${plural}/`))
      .map(([, object]) => object);
    response.end(JSON.stringify({ metadata: { resourceVersion: String(this.version) }, items }));
  });

  put(plural: string, object: Service | Endpoints): void {
    const key = `${plural}/${object.metadata?.name}`;
    this.tell(plural, this.objects.has(key) ? 'MODIFIED' : 'ADDED', object);
    this.objects.set(key, object);
  }

  delete(plural: string, name: string): void {
    const object = this.objects.get(`${plural}/${name}`);
    this.objects.delete(`${plural}/${name}`);
    if (object) this.tell(plural, 'DELETED', object);
  }

  private tell(plural: string, type: string, object: Service | Endpoints): void {
    this.version += 1;
    object.metadata = { ...object.metadata, resourceVersion: String(this.version) };
    for (const [response, watched] of this.watchers) {
      if (watched === plural) response.write(`${JSON.stringify({ type, object })}\n`);
    }
  }
}

for (const mode of isRoot ? ['loopback', 'interface'] : ['loopback']) {
  describe(`ServiceProxy, ${mode} addresses`, () => {
    const address = (last: number) =>
      mode === 'loopback'
        ? `127.215.${process.pid % 256}.${last}`
        : `10.215.${process.pid % 256}.${last}`;
    const owner = randomUUID();
    let api: ListWatchApi;
    let client: RestClient;
    let proxy: ServiceProxy;
    const stops: (() => void)[] = [];

    async function startProxy(): Promise<void> {
      proxy = new ServiceProxy({
        onFailed: (error) => expect.unreachable(String(error)),
        options: parseOptions(ProxyOptions, [], { program: 'test', description: '', version: '' }),
        client,
        owner,
        metrics: new Metrics(),
        clock: systemClock,
        logger,
      });
      await proxy.start();
    }

    beforeEach(async () => {
      api = new ListWatchApi();
      api.server.listen(0, '127.0.0.1');
      await once(api.server, 'listening');
      const { port } = api.server.address() as AddressInfo;
      client = new RestClient({ servers: [`http://127.0.0.1:${port}`], qps: 0 });
    });

    afterEach(async () => {
      await proxy.stop({ teardown: true });
      await client.close();
      for (const stop of stops.splice(0)) stop();
      api.server.closeAllConnections();
      api.server.close();
    });

    async function backend(name: string): Promise<number> {
      const server = createServer((socket) => socket.end(name));
      stops.push(() => server.close());
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    }

    const putService = (name: string, spec: ServiceSpec) =>
      api.put('services', { metadata: { name, namespace: 'default' }, spec });
    const putEndpoints = (name: string, ...ports: number[]) =>
      api.put('endpoints', {
        metadata: { name, namespace: 'default' },
        subsets: ports.map((port) => ({ addresses: [{ ip: '127.0.0.1' }], ports: [{ port }] })),
      });

    function ask(host: string, port: number): Promise<string> {
      return new Promise((resolve, reject) => {
        const socket = connect({ host, port, timeout: 1_000 });
        let text = '';
        socket.on('data', (data) => {
          text += data;
        });
        socket.on('end', () => resolve(text));
        socket.on('timeout', () => socket.destroy(new Error('no answer')));
        socket.on('error', reject);
      });
    }

    async function eventually(probe: () => Promise<boolean>): Promise<void> {
      for (let turn = 0; turn < 500; turn += 1) {
        if (await probe().catch(() => false)) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error('never happened');
    }

    const refused = (host: string, port: number) =>
      ask(host, port).then(
        () => false,
        () => true,
      );

    it('serves services as they come, change and go', async () => {
      const [one, two] = [await backend('one'), await backend('two')];
      putService('web', { clusterIP: address(2), ports: [{ port: 80 }] });
      putEndpoints('web', one);
      await startProxy();
      await eventually(async () => (await ask(address(2), 80)) === 'one');
      putEndpoints('web', two);
      await eventually(async () => (await ask(address(2), 80)) === 'two');
      const nodePort = 39_000 + (process.pid % 1_000);
      putService('web', { clusterIP: address(2), ports: [{ port: 81, nodePort }] });
      await eventually(async () => (await ask(address(2), 81)) === 'two');
      await eventually(async () => (await ask('127.0.0.1', nodePort)) === 'two');
      expect(await refused(address(2), 80)).toBe(true);
      putEndpoints('web');
      await eventually(() => refused(address(2), 81));
      api.delete('services', 'web');
      await eventually(() => refused('127.0.0.1', nodePort));
    });

    it('finds its addresses again and drops those of services that are gone', async () => {
      const port = await backend('one');
      for (const [name, last] of [
        ['stays', 3],
        ['goes', 4],
      ] as const) {
        putService(name, { clusterIP: address(last), ports: [{ port: 80 }] });
        putEndpoints(name, port);
      }
      await startProxy();
      await eventually(async () => (await ask(address(4), 80)) === 'one');
      await eventually(async () => (await ask(address(3), 80)) === 'one');
      await proxy.stop({ teardown: false });
      api.delete('services', 'goes');
      await startProxy();
      await eventually(async () => (await ask(address(3), 80)) === 'one');
      expect(await refused(address(4), 80)).toBe(true);
      if (mode === 'loopback') return;
      const held = () => execFileSync('ip', ['-o', '-4', 'addr']).toString();
      expect(held()).toContain(`${address(3)}/32`);
      expect(held()).not.toContain(`${address(4)}/32`);
      await proxy.stop({ teardown: true });
      expect(held()).not.toContain(`${address(3)}/32`);
    });
  });
}
