/** What of a commit can be refused before it is proposed. Pure. */
import { resourceOf } from '../core/key-space.js';
import { KEY_BYTES_MAX, OPERATIONS_MAX, TIME_TO_LIVE_MAX_MS } from '../limits.js';
import type { StoreOptions } from '../store-options.js';
import { type Operation, StoreError } from '../versioned-store.js';

/**
 * Throws RangeError for what no caller may ask (a malformed key, a key twice, an offset outside of
 * its bytes) and StoreError `TooLarge` or `NoSpace` over a limit. `storedBytes`: what counts
 * against the quota now; deletions go on when it is used up.
 */
export function checkCommit(
  operations: readonly Operation[],
  storedBytes: number,
  options: StoreOptions,
): void {
  if (operations.length > OPERATIONS_MAX) {
    throw new StoreError('TooLarge', `a commit has at most ${OPERATIONS_MAX} operations`);
  }
  let putBytes = 0;
  for (const operation of operations) {
    checkKey(operation.key);
    if (operation.kind === 'check') continue;
    if (operation.kind === 'put') checkTimeToLive(operation.timeToLiveMs);
    const bytes = operation.kind === 'put' ? operation.bytes : operation.lastBytes;
    const { revisionOffset = 0 } = operation;
    if (revisionOffset < 0 || revisionOffset > (bytes?.length ?? 0)) {
      throw new RangeError(`revisionOffset ${revisionOffset} is outside of the bytes`);
    }
    if (!bytes) continue;
    if (bytes.length > options.objectBytesMax) {
      throw new StoreError(
        'TooLarge',
        `object of ${bytes.length} bytes, at most ${options.objectBytesMax} are stored`,
      );
    }
    if (operation.kind === 'put') putBytes += bytes.length;
  }
  checkDistinct(operations);
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
  // A code unit takes at most three bytes, so that most keys need no counting.
  if (key.length * 3 > KEY_BYTES_MAX && Buffer.byteLength(key) > KEY_BYTES_MAX) {
    throw new StoreError('TooLarge', `a key has at most ${KEY_BYTES_MAX} bytes`);
  }
  if (/\p{Surrogate}/u.test(key)) throw new RangeError('a key must be well-formed Unicode');
}

function checkTimeToLive(timeToLiveMs: number | undefined): void {
  if (timeToLiveMs === undefined) return;
  if (Number.isInteger(timeToLiveMs) && timeToLiveMs > 0 && timeToLiveMs <= TIME_TO_LIVE_MAX_MS) {
    return;
  }
  throw new RangeError(`time to live of ${timeToLiveMs} ms: whole, above 0, at most 100 years`);
}

/** Two changes of one key in one commit would share a revision. */
function checkDistinct(operations: readonly Operation[]): void {
  if (operations.length < 2) return;
  const changed = new Set<string>();
  for (const { kind, key } of operations) {
    if (kind === 'check') continue;
    if (changed.has(key)) throw new RangeError(`${key} is changed twice in one commit`);
    changed.add(key);
  }
}
