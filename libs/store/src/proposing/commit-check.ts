/** Checks a commit before it is proposed. Pure. */
import { changedTwice } from '../core/commit-rules.js';
import { resourceOf } from '../core/key-space.js';
import { keyBytesMax, operationsMax, timeToLiveMaxMs } from '../limits.js';
import type { StoreOptions } from '../store-options.js';
import { type Operation, StoreError } from '../versioned-store.js';

/**
 * Throws RangeError for a commit that no caller may pass (a malformed key, a key twice, an offset
 * outside of its bytes) and StoreError `TooLarge` or `NoSpace` above a limit. `storedBytes` counts
 * against the quota; deletions are admitted when it is used up.
 */
export function checkCommit(
  operations: readonly Operation[],
  storedBytes: number,
  options: StoreOptions,
): void {
  if (operations.length > operationsMax) {
    throw new StoreError(
      'TooLarge',
      `the commit has ${operations.length} operations, the limit is ${operationsMax}`,
    );
  }
  let putBytes = 0;
  for (const operation of operations) {
    checkKey(operation.key);
    if (operation.kind === 'check') continue;
    if (operation.kind === 'put') checkTimeToLive(operation.timeToLiveMs);
    const bytes = operation.kind === 'put' ? operation.bytes : operation.lastBytes;
    const { revisionOffset = 0 } = operation;
    if (revisionOffset < 0 || revisionOffset > (bytes?.length ?? 0)) {
      throw new RangeError(
        `revisionOffset ${revisionOffset} is outside of the ${bytes?.length ?? 0} bytes`,
      );
    }
    if (!bytes) continue;
    if (bytes.length > options.objectBytesMax) {
      throw new StoreError(
        'TooLarge',
        `the object has ${bytes.length} bytes, the limit is ${options.objectBytesMax}`,
      );
    }
    if (operation.kind === 'put') putBytes += bytes.length;
  }
  const twice = changedTwice(operations);
  if (twice !== undefined) throw new RangeError(`${twice} is changed twice in one commit`);
  if (putBytes > 0 && storedBytes + putBytes > options.quotaBytes) {
    throw new StoreError(
      'NoSpace',
      `the store holds ${storedBytes} of ${options.quotaBytes} bytes: delete objects, wait for compaction or raise the quota`,
    );
  }
}

function checkKey(key: string): void {
  if (resourceOf(key) === undefined) {
    throw new RangeError(`${JSON.stringify(key)} is not <group>/<resource>/[<namespace>/]<name>`);
  }
  // A code unit has at most three bytes, so that most keys need no counting.
  if (key.length * 3 > keyBytesMax && Buffer.byteLength(key) > keyBytesMax) {
    throw new StoreError(
      'TooLarge',
      `the key has ${Buffer.byteLength(key)} bytes, the limit is ${keyBytesMax}`,
    );
  }
  if (/\p{Surrogate}/u.test(key)) throw new RangeError('a key must be well-formed Unicode');
}

function checkTimeToLive(timeToLiveMs: number | undefined): void {
  if (timeToLiveMs === undefined) return;
  if (Number.isInteger(timeToLiveMs) && timeToLiveMs > 0 && timeToLiveMs <= timeToLiveMaxMs) {
    return;
  }
  throw new RangeError(
    `time to live of ${timeToLiveMs} ms: it must be a whole number above 0, at most 100 years`,
  );
}
