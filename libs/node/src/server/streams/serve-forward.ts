/** Connects a client to a port of a pod. The directions end independently. */
import { pipeline } from 'node:stream/promises';
import type { Clock } from '@orch/component';
import type { Forward } from '@orch/streaming';
import type { ContainerRuntime, SandboxId } from '../../runtimes/container-runtime.js';
import { IdleTimer } from './idle-timer.js';

export function forwardTo(
  runtime: ContainerRuntime,
  sandbox: SandboxId,
  podTitle: string,
  idleTimeoutMs: number,
  clock: Clock,
): Forward {
  return async ({ port, data }, signal) => {
    const failed = (cause: Error) =>
      new Error(`error forwarding port ${port} to pod ${podTitle}: ${cause.message}`, { cause });
    const socket = await runtime.dial(sandbox, port).catch((cause: Error) => {
      throw failed(cause);
    });
    const idle = new IdleTimer(idleTimeoutMs, clock);
    const close = () => socket.destroy();
    signal.addEventListener('abort', close, { once: true });
    idle.signal.addEventListener('abort', close, { once: true });
    if (signal.aborted) close();
    idle.watch(data);
    idle.watch(socket);
    try {
      // Either side may continue to send after the other has ended its half.
      const results = await Promise.allSettled([
        pipeline(socket, data).catch(endBoth),
        pipeline(data, socket).catch(endBoth),
      ]);
      const broken = results.find((result) => result.status === 'rejected');
      if (broken && !signal.aborted) throw failed(broken.reason as Error);
    } finally {
      idle.stop();
      signal.removeEventListener('abort', close);
      socket.destroy();
    }

    function endBoth(error: Error): never {
      socket.destroy();
      data.destroy();
      throw error;
    }
  };
}
