/** Joins two connections byte for byte, with back-pressure; each direction ends on its own. */

import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { tooManyRequests } from '@orch/apimachinery';
import { joinedConnectionsMax, joinedIdleTimeoutMs, joinedKeepAliveMs } from '../limits.js';

const retryAfterSeconds = 10;

let joinedCount = 0;

/** Throws 429 when as many connections are joined as may be. */
export function checkRoomToJoin(): void {
  if (joinedCount < joinedConnectionsMax) return;
  throw tooManyRequests(`more than ${joinedConnectionsMax} streams are open`, retryAfterSeconds);
}

/** Resolves when both have ended, or one is broken; never rejects. */
export async function joinSockets(client: Duplex, target: Duplex): Promise<void> {
  joinedCount += 1;
  for (const socket of [client, target] as Socket[]) {
    socket.setNoDelay?.(true);
    // A machine that is gone says nothing: the system asks it now and then.
    socket.setKeepAlive?.(true, joinedKeepAliveMs);
    socket.setTimeout?.(joinedIdleTimeoutMs, () => socket.destroy());
  }
  const cut = () => {
    client.destroy();
    target.destroy();
  };
  // What breaks off on one side is seen as the end on the other.
  await Promise.all([pipeline(client, target).catch(cut), pipeline(target, client).catch(cut)]);
  cut();
  joinedCount -= 1;
}
