/** Waiting until objects are gone: looked at again and again, by uid, until a deadline. */
import { type ApiObject, isNotFound, type ResourceClient } from '@orch/client';
import { sleep, systemClock } from '@orch/component';
import { TimeoutError } from './errors.js';

export interface Leaving {
  readonly client: ResourceClient<ApiObject>;
  readonly name: string;
  /** Another object of the same name is not waited for; unknown: any. */
  readonly uid?: string;
  readonly title: string;
}

const pollFirstMs = 50;
const pollMaxMs = 1_000;

/** Throws `TimeoutError` when one of them is still there after `timeoutMs`. */
export async function waitUntilGone(leaving: readonly Leaving[], timeoutMs: number): Promise<void> {
  const deadlineMs = systemClock.monotonicMs() + timeoutMs;
  for (const one of leaving) {
    for (let pollMs = pollFirstMs; await exists(one); pollMs = Math.min(pollMs * 2, pollMaxMs)) {
      if (systemClock.monotonicMs() + pollMs > deadlineMs) {
        throw new TimeoutError(`timed out waiting for the deletion of ${one.title}`);
      }
      await sleep(pollMs);
    }
  }
}

async function exists({ client, name, uid }: Leaving): Promise<boolean> {
  try {
    const object = await client.get(name);
    return uid === undefined || object.metadata?.uid === uid;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
