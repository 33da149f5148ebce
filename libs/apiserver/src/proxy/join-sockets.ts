/** Joins two connections byte for byte, with back-pressure; each direction ends independently. */

import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { tooManyRequests } from '@orch/apimachinery';
import { joinedConnectionsMax, joinedIdleTimeoutMs, joinedKeepAliveMs } from '../limits.js';

/** A stream whose connection, if it has one of its own, can be tuned. */
type Connection = Duplex & Partial<Pick<Socket, 'setNoDelay' | 'setKeepAlive' | 'setTimeout'>>;

const retryAfterSeconds = 10;
const socketListenersMax = 32;

let joinedCount = 0;

/** Throws 429 if the maximum number of connections is joined. */
export function checkRoomToJoin(): void {
  if (joinedCount < joinedConnectionsMax) return;
  throw tooManyRequests(`more than ${joinedConnectionsMax} streams are open`, retryAfterSeconds);
}

/** Resolves when both have ended, or one is broken; never rejects. */
export async function joinSockets(client: Duplex, target: Duplex): Promise<void> {
  joinedCount += 1;
  const sockets: readonly Connection[] = [client, target];
  for (const socket of sockets) {
    socket.setNoDelay?.(true);
    // Both directions, the pool and TLS listen to it.
    socket.setMaxListeners(socketListenersMax);
    // A dead peer sends nothing, so the kernel probes it.
    socket.setKeepAlive?.(true, joinedKeepAliveMs);
    socket.setTimeout?.(joinedIdleTimeoutMs, () => socket.destroy());
  }
  const cut = () => {
    client.destroy();
    target.destroy();
  };
  // A broken connection ends the other side.
  await Promise.all([pipeline(client, target).catch(cut), pipeline(target, client).catch(cut)]);
  cut();
  joinedCount -= 1;
}
