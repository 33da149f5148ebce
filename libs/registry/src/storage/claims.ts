/**
 * Values that are unique in the cluster (service addresses, node ports). Each is a key of its own,
 * created with the expectation that it is absent in the commit of the object that holds it, and
 * deleted with it. No two objects can therefore hold one value, and no value leaks. The index here
 * is this replica's view: it only guides the choice, the commit decides.
 */
import type { Allocator, Claim } from '@orch/api';
import type { Logger } from '@orch/component';
import type { Entry, Operation, StoreReader, WatchEvent } from '@orch/store';
import { FollowedPrefix, type PrefixObserver } from './followed-prefix.js';

export const claimPrefix = 'allocations/';

export class ClaimIndex implements Allocator, PrefixObserver {
  private readonly holders = new Map<string, string>();
  private readonly followed: FollowedPrefix;
  private synced = false;

  constructor(store: StoreReader, logger: Logger) {
    const name = 'claims';
    this.followed = new FollowedPrefix({
      store,
      prefix: claimPrefix,
      name,
      observer: this,
      logger,
    });
  }

  /** Every claim that this replica knew of at the time of the call is indexed. */
  get isSynced(): boolean {
    return this.synced;
  }

  /** Follows the claims that this replica knows of until `stop`. */
  start(): void {
    this.followed.start();
  }

  stop(): void {
    this.followed.stop();
  }

  replaced(entries: readonly Entry[]): void {
    this.holders.clear();
    for (const entry of entries) this.put(entry);
    this.synced = true;
  }

  changed(events: readonly WatchEvent[]): void {
    for (const event of events) {
      if (event.kind === 'put') this.put(event.entry);
      else this.holders.delete(event.key.slice(claimPrefix.length));
    }
  }

  isClaimed(key: string): boolean {
    return this.holders.has(key);
  }

  /** Key of the object that holds the value. */
  holder(key: string): string | undefined {
    return this.holders.get(key);
  }

  private put(entry: Entry): void {
    this.holders.set(entry.key.slice(claimPrefix.length), entry.bytes.toString());
  }
}

/** The claim operations of a commit: creates new claims and deletes those no longer held. */
export function claimOperations(held: readonly Claim[], wanted: readonly Claim[]): Operation[] {
  const heldKeys = new Set(held.map((claim) => claim.key));
  const wantedKeys = new Set(wanted.map((claim) => claim.key));
  const operations: Operation[] = [];
  for (const claim of wanted) {
    if (heldKeys.has(claim.key)) continue;
    operations.push({
      kind: 'put',
      key: claimPrefix + claim.key,
      bytes: Buffer.from(claim.holder),
      expect: { kind: 'absent' },
    });
  }
  for (const key of heldKeys) {
    if (!wantedKeys.has(key)) operations.push({ kind: 'delete', key: claimPrefix + key });
  }
  return operations;
}
