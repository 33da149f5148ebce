/**
 * Connections to what listens inside a pod, on its own loopback address too. A helper process enters the
 * pod's network and hands its sockets over, so bytes never pass through it. It is kept for the next
 * connection for a while.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Clock, Timer } from '@orch/component';
import { podDialerIdleMs, podDialTimeoutMs } from '../../limits.js';
import { RuntimeError } from '../container-runtime.js';
import { helperEnvironment } from './helper-command.js';

interface Waiter {
  resolve(socket: Socket): void;
  reject(error: Error): void;
}

interface Helper {
  readonly child: ChildProcess;
  readonly waiters: Map<number, Waiter>;
  idle: Timer | undefined;
}

const script = join(import.meta.dirname, 'dial.cjs');

/** The pod's own host under both of its addresses; the pod's address is for programs that listen there only. */
const loopback = ['127.0.0.1', '::1'];

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ETIMEDOUT: 'connection timed out',
};

function unreachable(port: number, reason: string): RuntimeError {
  return new RuntimeError(
    'NotFound',
    `failed to connect to localhost:${port}: ${reasons[reason] ?? reason}`,
  );
}

export class PodDialer {
  private readonly helpers = new Map<string, Helper>();
  private nextId = 1;

  constructor(private readonly clock: Clock) {}

  /** Rejects with RuntimeError when nothing listens there. */
  dialInside(namespacePath: string, address: string, port: number): Promise<Socket> {
    const helper = this.helpers.get(namespacePath) ?? this.start(namespacePath);
    helper.idle?.cancel();
    const id = this.nextId;
    this.nextId += 1;
    return new Promise((resolve, reject) => {
      const timer = this.clock.setTimer(podDialTimeoutMs, () => {
        helper.waiters.get(id)?.reject(unreachable(port, 'no answer in time'));
      });
      const settle = () => {
        timer.cancel();
        helper.waiters.delete(id);
        this.restIfIdle(helper);
      };
      helper.waiters.set(id, {
        resolve: (socket) => {
          settle();
          resolve(socket);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      helper.child.send({ id, port, hosts: [...loopback, address] }, (error) => {
        if (error) helper.waiters.get(id)?.reject(unreachable(port, error.message));
      });
    });
  }

  stop(): void {
    for (const { child } of this.helpers.values()) child.kill('SIGKILL');
  }

  private start(namespacePath: string): Helper {
    const args = [`--net=${namespacePath}`, process.execPath, script];
    const child = spawn('nsenter', args, {
      cwd: '/',
      env: helperEnvironment,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const helper: Helper = { child, waiters: new Map(), idle: undefined };
    this.helpers.set(namespacePath, helper);
    child.on('message', (message, handle) => {
      const { id, port, error } = message as { id: number; port: number; error?: string };
      const waiter = helper.waiters.get(id);
      const socket = handle as Socket | undefined;
      if (!waiter) socket?.destroy();
      else if (socket) waiter.resolve(halfOpen(socket));
      else waiter.reject(unreachable(port, error ?? 'no reason given'));
    });
    const gone = () => {
      if (this.helpers.get(namespacePath) === helper) this.helpers.delete(namespacePath);
      helper.idle?.cancel();
      for (const waiter of [...helper.waiters.values()]) {
        waiter.reject(new RuntimeError('Internal', 'the helper for connections has ended'));
      }
    };
    child.once('error', gone);
    child.once('exit', gone);
    return helper;
  }

  private restIfIdle(helper: Helper): void {
    if (helper.waiters.size > 0) return;
    helper.idle?.cancel();
    helper.idle = this.clock.setTimer(podDialerIdleMs, () => helper.child.kill('SIGKILL'));
  }
}

/** Each direction ends on its own, as it does at the other end of what is forwarded. */
function halfOpen(socket: Socket): Socket {
  socket.allowHalfOpen = true;
  return socket;
}

export function dialDirectly(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true });
    const timer = setTimeout(() => fail('no answer in time'), podDialTimeoutMs);
    const fail = (reason: string) => {
      clearTimeout(timer);
      socket.destroy();
      reject(unreachable(port, reason));
    };
    const refused = (error: NodeJS.ErrnoException) => fail(error.code ?? error.message);
    socket.once('error', refused);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', refused);
      resolve(socket);
    });
  });
}
