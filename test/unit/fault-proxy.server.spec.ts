/**
 * The fault proxy that chaos runs put between replicas: with plain sockets, then with a replica.
 */

import { spawn } from 'node:child_process';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { systemClock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { asMemberId } from '../../libs/raft/src/core/brands.js';
import {
  TestAuthority,
  TransportEnd,
} from '../../libs/raft/src/transport/grpc/testing/transport-end.js';
import { FaultProxy } from '../chaos/support/fault-proxy.js';

const proxy = { current: new FaultProxy() };
let server: Server;
let port: number;
let arrived: Buffer[];
const sockets: Socket[] = [];

beforeEach(async () => {
  proxy.current = new FaultProxy();
  arrived = [];
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes) => {
      arrived.push(bytes);
      socket.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as { port: number };
  port = await proxy.current.listen('b', { host: '127.0.0.1', port: address.port });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await proxy.current.close();
  await new Promise((resolve) => server.close(resolve));
});

function dial() {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  const echoed: Buffer[] = [];
  const closed = vi.fn();
  socket.on('data', (bytes) => echoed.push(bytes));
  socket.on('error', () => undefined);
  socket.on('close', closed);
  return { socket, closed, text: () => Buffer.concat(echoed).toString() };
}

function arrivedBytes(): number {
  return Buffer.concat(arrived).length;
}

describe('the fault proxy', () => {
  it('forwards both directions, including a half-close', async () => {
    const { socket, closed, text } = dial();
    const sent = 'x'.repeat(3_000_000);
    socket.end(sent);
    await vi.waitFor(() => expect(closed).toHaveBeenCalled());
    expect(text().length).toBe(sent.length);
  });

  it('holds the bytes of a blocked direction until it is healed', async () => {
    const { socket, text } = dial();
    socket.write('1');
    await vi.waitFor(() => expect(text()).toBe('1'));
    proxy.current.block('b', '*');
    socket.write('2');
    await vi.waitFor(() => expect(arrivedBytes()).toBe(2));
    proxy.current.block('*', 'b');
    socket.write('3');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([arrivedBytes(), text()]).toEqual([2, '1']);
    proxy.current.heal();
    await vi.waitFor(() => expect(text()).toBe('123'));
  });

  it('delays bytes and limits the bandwidth', async () => {
    proxy.current.between('*', 'b').set({ delayMs: 60, jitterMs: 20 });
    const { socket, text } = dial();
    const startMs = performance.now();
    socket.write('a');
    await vi.waitFor(() => expect(text()).toBe('a'), { interval: 2 });
    expect(performance.now() - startMs).toBeGreaterThan(58);
    proxy.current.between('*', 'b').set({ delayMs: 0, jitterMs: 0, bytesPerSecond: 1_000_000 });
    const slowMs = performance.now();
    socket.write(Buffer.alloc(300_000));
    await vi.waitFor(() => expect(arrivedBytes()).toBe(300_001), { interval: 5 });
    expect(performance.now() - slowMs).toBeGreaterThan(200);
  });

  it('drops connections and refuses new ones', async () => {
    const { socket, closed, text } = dial();
    socket.write('1');
    await vi.waitFor(() => expect(text()).toBe('1'));
    expect(proxy.current.open).toEqual(['*>b']);
    expect(proxy.current.drop('b')).toBe(1);
    await vi.waitFor(() => expect(closed).toHaveBeenCalled());
    proxy.current.between('*', 'b').set({ isRefusing: true });
    const refused = dial();
    await vi.waitFor(() => expect(refused.closed).toHaveBeenCalled());
    expect(() => proxy.current.between('*', 'b').set({ blackHole: true } as never)).toThrow(
      TypeError,
    );
  });

  it('identifies callers by their process', async () => {
    const child = spawn(process.execPath, [
      '-e',
      `process.stdin.once('data', () => require('net').connect(${port}, '127.0.0.1').write('hello'))`,
    ]);
    try {
      proxy.current.identify('me', process.pid);
      proxy.current.identify('child', child.pid!);
      proxy.current.block('child', 'b');
      child.stdin.write('go');
      await vi.waitFor(() => expect(proxy.current.open).toEqual(['child>b']), { timeout: 5_000 });
      const { socket, text } = dial();
      socket.write('1');
      await vi.waitFor(() => expect(text()).toBe('1'));
      expect(Buffer.concat(arrived).toString()).toBe('1');
      proxy.current.heal();
      await vi.waitFor(() => expect(Buffer.concat(arrived).toString()).toBe('1hello'));
    } finally {
      child.kill('SIGKILL');
    }
  });
});

describe('a replica behind the fault proxy', () => {
  /** Ten times as fast as real time, so that intervals of seconds become tenths. */
  const quickClock = {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() * 10,
    setTimer: (delayMs: number, callback: () => void) =>
      systemClock.setTimer(delayMs / 10, callback),
  };

  it('is reported unreachable when either direction is blocked, and connects again', async () => {
    const authority = await TestAuthority.create();
    const files = await authority.issue('peer');
    const a = new TransportEnd(asMemberId('a'), files, { clock: quickClock });
    const b = new TransportEnd(asMemberId('b'), files);
    try {
      await Promise.all([a.start(), b.start()]);
      const bPort = await proxy.current.listen('replica-b', {
        host: '127.0.0.1',
        port: b.transport.port,
      });
      a.connectTo({ member: { ...b.member, peerUrl: `https://127.0.0.1:${bPort}` } });
      for (const [from, to] of [['*', 'replica-b'] as const, ['replica-b', '*'] as const]) {
        await vi.waitFor(() => expect(a.open.has(asMemberId('b'))).toBe(true), { timeout: 10_000 });
        a.unreachable.length = 0;
        proxy.current.block(from, to);
        await vi.waitFor(() => expect(a.unreachable.length).toBeGreaterThan(0), {
          timeout: 5_000,
        });
        expect(a.unreachable[0]![1]).toContain('did not respond to a ping in time');
        expect(a.open.has(asMemberId('b'))).toBe(false);
        proxy.current.heal();
      }
      await vi.waitFor(() => expect(a.open.has(asMemberId('b'))).toBe(true), { timeout: 10_000 });
    } finally {
      await Promise.all([a.stop(), b.stop()]);
      await authority.remove();
    }
  });
});
