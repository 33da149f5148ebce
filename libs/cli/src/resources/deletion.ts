/** Waits until objects are deleted, by polling. */
import { type ApiObject, isNotFound, type ResourceClient } from '@orch/client';
import { sleep, systemClock } from '@orch/component';
import { TimeoutError } from '../command-line/errors.js';

export interface PendingDeletion {
  readonly client: ResourceClient<ApiObject>;
  readonly name: string;
  /** If set, a new object with the same name counts as deleted. */
  readonly uid?: string;
  readonly title: string;
}

const pollFirstMs = 50;
const pollMaxMs = 1_000;

/** Throws `TimeoutError` if one of the objects still exists after `timeoutMs`. */
export async function waitUntilGone(
  deletions: readonly PendingDeletion[],
  timeoutMs: number,
): Promise<void> {
  const deadlineMs = systemClock.monotonicMs() + timeoutMs;
  for (const deletion of deletions) {
    for (
      let pollMs = pollFirstMs;
      await exists(deletion);
      pollMs = Math.min(pollMs * 2, pollMaxMs)
    ) {
      if (systemClock.monotonicMs() + pollMs > deadlineMs) {
        throw new TimeoutError(`timed out waiting for the deletion of ${deletion.title}`);
      }
      await sleep(pollMs);
    }
  }
}

async function exists({ client, name, uid }: PendingDeletion): Promise<boolean> {
  try {
    const object = await client.get(name);
    return uid === undefined || object.metadata?.uid === uid;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
