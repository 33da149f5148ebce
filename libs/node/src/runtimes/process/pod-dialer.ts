/**
 * Connects to ports inside a pod, including its loopback address. A helper process enters the pod's
 * network namespace and passes the connected sockets to the agent, so it transfers no data. It is
 * reused for further connections until it is idle.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { connect, Socket } from 'node:net';
import { join } from 'node:path';
import { type Clock, errorCode, type Timer } from '@orch/component';
import { podDialerIdleMs, podDialTimeoutMs } from '../../limits.js';
import { RuntimeError } from '../container-runtime.js';
import { helperEnvironment } from './helper-command.js';

interface Waiter {
  resolve(socket: Socket): void;
  reject(error: Error): void;
}

/** A message of the helper process; a successful one carries the socket as its handle. */
interface DialResult {
  readonly id: number;
  readonly port: number;
  readonly error?: string;
}

interface Helper {
  readonly child: ChildProcess;
  readonly waiters: Map<number, Waiter>;
  idle: Timer | undefined;
}

const script = join(import.meta.dirname, 'dial.cjs');

/** The loopback addresses, which are tried before the pod's address. */
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

  /**
   * Connects in the network namespace. Rejects with RuntimeError if nothing listens on the port.
   */
  dialInside(namespacePath: string, address: string, port: number): Promise<Socket> {
    const helper = this.helpers.get(namespacePath) ?? this.start(namespacePath);
    helper.idle?.cancel();
    const id = this.nextId;
    this.nextId += 1;
    return new Promise((resolve, reject) => {
      const timer = this.clock.setTimer(podDialTimeoutMs, () => {
        helper.waiters.get(id)?.reject(unreachable(port, 'connection timed out'));
      });
      const settle = () => {
        timer.cancel();
        helper.waiters.delete(id);
        this.stopWhenIdle(helper);
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
      const { id, port, error } = message as DialResult;
      const waiter = helper.waiters.get(id);
      const socket = handle instanceof Socket ? handle : undefined;
      if (!waiter) socket?.destroy();
      else if (socket) waiter.resolve(halfOpen(socket));
      else waiter.reject(unreachable(port, error ?? 'unknown error'));
    });
    const onExit = () => {
      if (this.helpers.get(namespacePath) === helper) this.helpers.delete(namespacePath);
      helper.idle?.cancel();
      for (const waiter of [...helper.waiters.values()]) {
        waiter.reject(
          new RuntimeError('Internal', 'the helper process for connections has exited'),
        );
      }
    };
    child.once('error', onExit);
    child.once('exit', onExit);
    return helper;
  }

  private stopWhenIdle(helper: Helper): void {
    if (helper.waiters.size > 0) return;
    helper.idle?.cancel();
    helper.idle = this.clock.setTimer(podDialerIdleMs, () => helper.child.kill('SIGKILL'));
  }
}

/** Lets the directions end independently. */
function halfOpen(socket: Socket): Socket {
  socket.allowHalfOpen = true;
  return socket;
}

/** Connects to an address of the host. Rejects with RuntimeError if nothing listens on the port. */
export function dialDirectly(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true });
    const timer = setTimeout(() => fail('connection timed out'), podDialTimeoutMs);
    const fail = (reason: string) => {
      clearTimeout(timer);
      socket.destroy();
      reject(unreachable(port, reason));
    };
    const onError = (error: Error) => fail(errorCode(error) ?? error.message);
    socket.once('error', onError);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', onError);
      resolve(socket);
    });
  });
}
