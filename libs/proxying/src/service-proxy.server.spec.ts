/** The whole proxy with an in-memory API server, on loopback addresses and on an interface. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { resources } from '@orch/client';
import { createLogger, Metrics, parseOptions, systemClock } from '@orch/component';
import type { ServiceSpec } from '@orch/types/core/v1';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryApiClient } from '../../client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../client/src/testing/memory-api-server.js';
import { ProxyOptions } from './proxy-options.js';
import { ServiceProxy } from './service-proxy.js';

const logger = createLogger({ component: 'test', format: 'text', level: 'fatal' });
const isRoot = process.getuid?.() === 0;

for (const mode of isRoot ? ['loopback', 'interface'] : ['loopback']) {
  describe(`ServiceProxy, ${mode} addresses`, () => {
    const address = (last: number) =>
      mode === 'loopback'
        ? `127.215.${process.pid % 256}.${last}`
        : `10.215.${process.pid % 256}.${last}`;
    const owner = randomUUID();
    let api: MemoryApiServer;
    let client: MemoryApiClient;
    let proxy: ServiceProxy;
    const stops: (() => void)[] = [];

    async function startProxy(...flags: string[]): Promise<void> {
      proxy = new ServiceProxy({
        onFailed: (error) => expect.unreachable(String(error)),
        options: parseOptions(ProxyOptions, flags, {
          program: 'test',
          description: '',
          version: '',
        }),
        client,
        owner,
        metrics: new Metrics(),
        clock: systemClock,
        logger,
      });
      await proxy.start();
    }

    beforeEach(() => {
      api = new MemoryApiServer();
      client = new MemoryApiClient(api);
    });

    afterEach(async () => {
      await proxy.stop({ teardown: true });
      await client.close();
      for (const stop of stops.splice(0)) stop();
    });

    async function backend(name: string): Promise<number> {
      const server = createServer((socket) => socket.end(name));
      stops.push(() => server.close());
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    }

    const putService = (name: string, spec: ServiceSpec) =>
      api.seed(resources.services, { metadata: { name, namespace: 'default' }, spec });
    const putEndpoints = (name: string, ...ports: number[]) =>
      api.seed(resources.endpoints, {
        metadata: { name, namespace: 'default' },
        subsets: ports.map((port) => ({ addresses: [{ ip: '127.0.0.1' }], ports: [{ port }] })),
      });

    const deleteService = (name: string) =>
      client.resource(resources.services, 'default').delete(name);

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

    it('serves services as they are created, changed and deleted', async () => {
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
      await deleteService('web');
      await eventually(() => refused('127.0.0.1', nodePort));
    });

    it('serves the addresses of a load balancer to the permitted clients', async () => {
      const put = (ranges: string[], ...ips: string[]) =>
        api.seed(resources.services, {
          metadata: { name: 'web', namespace: 'default' },
          spec: {
            type: 'LoadBalancer',
            clusterIP: address(5),
            ports: [{ port: 80 }],
            loadBalancerSourceRanges: ranges,
          },
          status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } },
        });
      putEndpoints('web', await backend('one'));
      put([], address(6));
      await startProxy();
      await eventually(async () => (await ask(address(6), 80)) === 'one');
      put(['192.0.2.0/24'], address(6));
      await eventually(() => refused(address(6), 80));
      expect(await ask(address(5), 80)).toBe('one');
      put(['0.0.0.0/0'], address(6), address(7));
      await eventually(async () => (await ask(address(7), 80)) === 'one');
      put([], address(7));
      await eventually(() => refused(address(6), 80));
      expect(await ask(address(7), 80)).toBe('one');
      if (mode === 'loopback') return;
      const held = execFileSync('ip', ['-o', '-4', 'addr']).toString();
      expect(held).toContain(`${address(7)}/32`);
      expect(held).not.toContain(`${address(6)}/32`);
    });

    it('recovers its addresses and releases those of deleted services', async () => {
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
      await deleteService('goes');
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

    it.runIf(mode === 'interface')('adds routes to the pods of other machines', async () => {
      const [link, range] = [`rt-${process.pid}`, `10.216.${process.pid % 256}`];
      const routes = () => execFileSync('ip', ['-4', 'route']).toString();
      const putNode = (name: string, host: number, third: number) =>
        api.seed(resources.nodes, {
          metadata: { name },
          spec: { podCIDRs: [`10.217.${third}.0/24`] },
          status: { addresses: [{ type: 'InternalIP', address: `${range}.${host}` }] },
        });
      execFileSync('ip', ['link', 'add', link, 'type', 'bridge']);
      stops.push(() => execFileSync('ip', ['link', 'delete', link]));
      execFileSync('ip', ['addr', 'add', `${range}.1/24`, 'dev', link]);
      execFileSync('ip', ['link', 'set', link, 'up']);
      putNode('local', 1, 1);
      putNode('two', 2, 2);
      putNode('three', 3, 3);
      await startProxy('--pod-route-range=10.217.0.0/16');
      const hasRoutes = (...wanted: string[]) =>
        eventually(async () => {
          const found = [...routes().matchAll(/^(10\.217\.\S+) via (\S+)/gm)];
          return (
            found
              .map(([, to, via]) => `${to} ${via}`)
              .sort()
              .join() === wanted.join()
          );
        });
      await hasRoutes(`10.217.2.0/24 ${range}.2`, `10.217.3.0/24 ${range}.3`);
      putNode('two', 4, 2);
      await hasRoutes(`10.217.2.0/24 ${range}.4`, `10.217.3.0/24 ${range}.3`);
      await proxy.stop({ teardown: false });
      await client.resource(resources.nodes).delete('three');
      await startProxy('--pod-route-range=10.217.0.0/16');
      await hasRoutes(`10.217.2.0/24 ${range}.4`);
      await proxy.stop({ teardown: true });
      await hasRoutes();
    });
  });
}
