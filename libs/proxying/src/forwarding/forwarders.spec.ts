import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createLogger, Metrics, systemClock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EndpointPicker } from '../balancing/endpoint-picker.js';
import type { ForwarderDependencies } from './forwarder.js';
import { ProxyMetrics } from './proxy-metrics.js';
import { TcpForwarder } from './tcp-forwarder.js';
import { UdpForwarder } from './udp-forwarder.js';

const logger = createLogger({ component: 'test', format: 'text', level: 'error' });

function settings(
  picker: EndpointPicker,
  more: Partial<ForwarderDependencies> = {},
): ForwarderDependencies {
  return {
    address: '127.0.0.1',
    port: 0,
    picker,
    accepts: () => true,
    name: 'test',
    metrics: new ProxyMetrics(new Metrics()),
    clock: systemClock,
    logger,
    connectionCountMax: 100,
    udpIdleTimeoutMs: 60_000,
    ...more,
  };
}

const servers: Server[] = [];

/** Responds its name, then echoes until the client ends its side, and says bye. */
async function echoServer(name: string): Promise<{ ip: string; port: number }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.write(`${name}:`);
    socket.on('data', (data) => socket.write(data));
    socket.on('end', () => socket.end(':bye'));
    socket.on('error', () => socket.destroy());
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { ip: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

async function freePort(): Promise<number> {
  const { port } = await echoServer('unused');
  const server = servers.pop()!;
  server.close();
  await once(server, 'close');
  return port;
}

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

describe('TcpForwarder', () => {
  let picker: EndpointPicker;
  let forwarder: TcpForwarder;
  const dial = () => connect({ port: forwarder.port, host: '127.0.0.1', allowHalfOpen: true });
  const talk = async (message: string): Promise<string> => {
    const socket = dial();
    socket.end(message);
    return textOf(socket);
  };

  beforeEach(() => {
    picker = new EndpointPicker();
    forwarder = new TcpForwarder(settings(picker));
  });

  afterEach(() => forwarder.destroy());

  it('forwards both directions completely, also half-closed', async () => {
    picker.update([await echoServer('a')], undefined);
    await forwarder.open();
    const long = 'x'.repeat(3_000_000);
    expect(await talk(long)).toBe(`a:${long}:bye`);
  });

  it('balances connections and skips unreachable endpoints', async () => {
    const dead = { ip: '127.0.0.1', port: await freePort() };
    picker.update([await echoServer('a'), await echoServer('b'), dead], undefined);
    await forwarder.open();
    const answers = [];
    for (let turn = 0; turn < 12; turn += 1) answers.push(await talk('1'));
    expect(answers.filter((answer) => answer === 'a:1:bye').length).toBeGreaterThanOrEqual(4);
    expect(answers.filter((answer) => answer === 'b:1:bye').length).toBeGreaterThanOrEqual(4);
    expect(answers).toHaveLength(12);
  });

  it('continues connections to a removed endpoint but opens no new ones', async () => {
    const [first, second] = [await echoServer('a'), await echoServer('b')];
    picker.update([first], undefined);
    await forwarder.open();
    const old = dial();
    old.write('1');
    await once(old, 'readable');
    picker.update([second], undefined);
    for (let turn = 0; turn < 4; turn += 1) expect(await talk('n')).toBe('b:n:bye');
    old.end('2');
    expect(await textOf(old)).toBe('a:12:bye');
  });

  it('rejects connections without endpoints and above its limit', async () => {
    forwarder = new TcpForwarder(settings(picker, { connectionCountMax: 1 }));
    await forwarder.open();
    await expect(talk('x')).rejects.toMatchObject({ code: 'ECONNRESET' });
    picker.update([await echoServer('a')], undefined);
    const held = dial();
    held.write('1');
    await once(held, 'readable');
    await expect(talk('x')).rejects.toMatchObject({ code: 'ECONNRESET' });
    held.end();
    expect(await textOf(held)).toBe('a:1:bye');
  });

  it('rejects clients that may not connect', async () => {
    let isAccepted = false;
    forwarder = new TcpForwarder(settings(picker, { accepts: () => isAccepted }));
    picker.update([await echoServer('a')], undefined);
    await forwarder.open();
    await expect(talk('x')).rejects.toMatchObject({ code: 'ECONNRESET' });
    isAccepted = true;
    expect(await talk('x')).toBe('a:x:bye');
  });

  it('resets the client connection when the endpoint connection fails', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    picker.update([{ ip: '127.0.0.1', port: (server.address() as AddressInfo).port }], undefined);
    await forwarder.open();
    await expect(talk('x')).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('UdpForwarder', () => {
  it('keeps the endpoint of a flow until the endpoint is removed', async () => {
    const picker = new EndpointPicker();
    const forwarder = new UdpForwarder(settings(picker));
    const echo = async (name: string) => {
      const socket = createSocket('udp4');
      socket.on('message', (data, from) => socket.send(`${name}${data}`, from.port, from.address));
      socket.bind(0, '127.0.0.1');
      await once(socket, 'listening');
      return { socket, endpoint: { ip: '127.0.0.1', port: socket.address().port } };
    };
    const [first, second] = [await echo('a'), await echo('b')];
    const clients = [createSocket('udp4'), createSocket('udp4')];
    try {
      picker.update([first.endpoint, second.endpoint], undefined);
      await forwarder.open();
      const ask = async (client: number): Promise<string> => {
        clients[client]!.send('?', forwarder.port, '127.0.0.1');
        const [data] = await once(clients[client]!, 'message');
        return String(data);
      };
      const one = await ask(0);
      expect(await ask(0)).toBe(one);
      expect(await ask(1)).not.toBe(one);
      expect(forwarder.connectionCount).toBe(2);
      const left = one === 'a?' ? second.endpoint : first.endpoint;
      picker.update([left], undefined);
      forwarder.endpointsChanged();
      expect(forwarder.connectionCount).toBe(1);
      expect(await ask(0)).toBe(one === 'a?' ? 'b?' : 'a?');
    } finally {
      forwarder.destroy();
      for (const socket of [...clients, first.socket, second.socket]) socket.close();
    }
  });
});
