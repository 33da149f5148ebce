/** Limits on connections of clients that have not authenticated, on a complete server. */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { RunningServer } from '../testing/running-server.js';
import { networkOf } from './connection-limiter.js';

const otherAddress = '127.0.0.2';

let server: RunningServer | undefined;
const open: { destroy(): void }[] = [];

async function start(flag: string): Promise<Client> {
  server = await RunningServer.start([flag]);
  const client = new Client(server.port);
  open.push(client);
  return client;
}

/** A client with one connection, over which it has authenticated. */
class Client {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });

  constructor(private readonly port: number) {}

  async get(path: string): Promise<string> {
    const sent = request({
      ...{ host: '127.0.0.1', port: this.port, path, agent: this.agent },
      headers: { authorization: 'Bearer secret' },
    }).end();
    const [response] = await once(sent, 'response');
    return text(response);
  }

  async metric(name: string): Promise<number> {
    const line = (await this.get('/metrics')).split('\n').find((each) => each.startsWith(name));
    return Number(line?.split(' ').at(-1) ?? Number.NaN);
  }

  refusedCount(reason: string): Promise<number> {
    return this.metric(`apiserver_refused_connections_total{reason="${reason}"}`);
  }

  async untilUnauthenticated(count: number): Promise<void> {
    const current = () => this.metric('apiserver_unauthenticated_connections ');
    await expect.poll(current, { timeout: 10_000 }).toBe(count);
  }

  destroy(): void {
    this.agent.destroy();
  }
}

/** Resolves with the connection after its handshake; undefined if the server refuses it. */
function connected(localAddress = '127.0.0.1'): Promise<TLSSocket | undefined> {
  const { port } = server!;
  const host = '127.0.0.1';
  return new Promise((resolve) => {
    const transport = connectTcp({ host, port, localAddress });
    const socket = connect({ socket: transport, rejectUnauthorized: false });
    open.push(socket);
    socket.once('secureConnect', () => resolve(socket));
    for (const each of [transport, socket]) each.once('error', () => resolve(undefined));
  });
}

async function connections(count: number): Promise<TLSSocket[]> {
  const sockets: TLSSocket[] = [];
  for (let index = 0; index < count; index += 1) {
    const socket = await connected();
    if (!socket) throw new Error(`connection ${index + 1} was refused`);
    sockets.push(socket);
  }
  return sockets;
}

afterEach(async () => {
  for (const each of open.splice(0)) each.destroy();
  await server?.stop();
  server = undefined;
});

describe('unauthenticated connections', () => {
  it('are limited per address, and other addresses and established clients are served', async () => {
    const client = await start('--max-unauthenticated-connections-per-address=3');
    await client.untilUnauthenticated(0);
    const [first] = await connections(3);
    expect(await connected()).toBeUndefined();
    expect(await client.refusedCount('address_unauthenticated')).toBe(1);
    expect(await client.get('/api/v1/namespaces/default')).toContain('"Namespace"');
    expect(await connected(otherAddress)).toBeDefined();
    await client.untilUnauthenticated(4);
    first!.destroy();
    await client.untilUnauthenticated(3);
    expect(await connected()).toBeDefined();
  });

  it('are limited in total', async () => {
    const client = await start('--max-unauthenticated-connections=2');
    await client.untilUnauthenticated(0);
    await connections(1);
    expect(await connected(otherAddress)).toBeDefined();
    expect(await connected()).toBeUndefined();
    expect(await client.refusedCount('unauthenticated')).toBe(1);
  });

  it('remain those whose requests are anonymous or have invalid credentials', async () => {
    const client = await start('--max-unauthenticated-connections-per-address=2');
    await client.untilUnauthenticated(0);
    const [anonymous, invalid] = await connections(2);
    anonymous!.write('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(String((await once(anonymous!, 'data'))[0])).toContain('HTTP/1.1 200');
    invalid!.write('GET /api HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer no\r\n\r\n');
    expect(String((await once(invalid!, 'data'))[0])).toContain('HTTP/1.1 401');
    expect(await connected()).toBeUndefined();
  });

  it('do not include HTTP/2 connections of a user', async () => {
    const client = await start('--max-unauthenticated-connections-per-address=1');
    await client.untilUnauthenticated(0);
    const session = connectHttp2(`https://127.0.0.1:${server!.port}`, {
      rejectUnauthorized: false,
    });
    open.push(session);
    await once(session, 'connect');
    expect(await connected()).toBeUndefined();
    const stream = session.request({ ':path': '/api', authorization: 'Bearer secret' });
    await text(stream);
    await client.untilUnauthenticated(0);
    expect(await connected()).toBeDefined();
  });
});

describe('TLS handshakes', () => {
  it('are limited per address and second, after a burst', async () => {
    const client = await start('--max-tls-handshakes-per-second-per-address=1');
    await client.untilUnauthenticated(0);
    let refusedCount = 0;
    for (let index = 0; index < 12; index += 1) {
      const socket = await connected();
      if (socket) socket.destroy();
      else refusedCount += 1;
    }
    expect(refusedCount).toBeGreaterThan(0);
    expect(await client.refusedCount('address_handshake_rate')).toBe(refusedCount);
    expect(await connected(otherAddress)).toBeDefined();
    const again = async () => (await connected()) !== undefined;
    await expect.poll(again, { timeout: 10_000, interval: 200 }).toBe(true);
  });

  it('are limited in total', async () => {
    const client = await start('--max-tls-handshakes-per-second=1');
    await client.untilUnauthenticated(0);
    const sockets = await Promise.all(
      Array.from({ length: 12 }, (_, index) => connected(`127.0.0.${index + 2}`)),
    );
    const refusedCount = sockets.filter((socket) => !socket).length;
    expect(refusedCount).toBeGreaterThan(0);
    expect(await client.refusedCount('handshake_rate')).toBe(refusedCount);
  });
});

describe('networkOf', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::9', '2001:db8:1:2'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
