/**
 * Whether the operations of a commit can be applied. `checkCommit` rejects others before they are
 * proposed; a faulty replica may forward them all the same, and every replica then applies nothing
 * of the commit.
 */
import { expiresAtMaxMs, keyBytesMax, operationsMax } from '../limits.js';
import type { Operation } from '../versioned-store.js';
import { resourceOf } from './key-space.js';

/** `timeMs`: the store's time. */
export function isApplicable(operations: readonly Operation[], timeMs: number): boolean {
  if (operations.length > operationsMax) return false;
  for (const operation of operations) {
    if (operation.kind === 'check') continue;
    if (resourceOf(operation.key) === undefined || !fits(operation.key)) return false;
    const { revisionOffset = 0 } = operation;
    const bytes = operation.kind === 'put' ? operation.bytes : operation.lastBytes;
    if (bytes && revisionOffset > bytes.length) return false;
    if (operation.kind !== 'put') continue;
    if (timeMs + (operation.timeToLiveMs ?? 0) > expiresAtMaxMs) return false;
  }
  return changedTwice(operations) === undefined;
}

function fits(key: string): boolean {
  // A code unit has at most three bytes, so that most keys need no counting.
  return key.length * 3 <= keyBytesMax || Buffer.byteLength(key) <= keyBytesMax;
}

/** Returns a key that is changed twice, if any: the two changes would share a revision. */
export function changedTwice(operations: readonly Operation[]): string | undefined {
  if (operations.length < 2) return undefined;
  const changed = new Set<string>();
  for (const { kind, key } of operations) {
    if (kind === 'check') continue;
    if (changed.has(key)) return key;
    changed.add(key);
  }
  return undefined;
}
