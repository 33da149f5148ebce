/**
 * Values that are unique in the cluster (service addresses, node ports): each is a key of its own, put
 * with the expectation that it is absent in the commit of the object that holds it, and deleted with
 * it. So no two objects can hold one value and none can leak. The index here is this replica's view of
 * what is taken: it only steers the choice, the commit decides.
 */
import type { Allocator, Claim } from '@orch/api';
import { Backoff, type Logger, sleep } from '@orch/component';
import { type Entry, type Operation, StoreError, type VersionedStore } from '@orch/store';

export const claimPrefix = 'allocations/';
const readTimeoutMs = 5_000;
const retry = { initialMs: 100, maxMs: 5_000, factor: 2, jitter: 0.5, random: Math.random };

export class ClaimIndex implements Allocator {
  private readonly holders = new Map<string, string>();
  private stopWatch: () => void = () => undefined;
  private stopped = false;
  private synced = false;

  constructor(
    private readonly store: VersionedStore,
    private readonly logger: Logger,
  ) {}

  /** Every claim that this replica knew of when it was asked is here. */
  get isSynced(): boolean {
    return this.synced;
  }

  /** Follows the claims that this replica knows of until `stop`. Needs no quorum, but a state to read. */
  start(): void {
    void this.follow();
  }

  stop(): void {
    this.stopped = true;
    this.stopWatch();
  }

  private async follow(): Promise<void> {
    const backoff = new Backoff(retry);
    while (!this.stopped) {
      try {
        await this.readAndWatch();
        return;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        this.logger.warn(
          { err: error },
          'claims cannot be read, allocation may need more attempts',
        );
      }
      await sleep(backoff.nextMs());
    }
  }

  private async readAndWatch(): Promise<void> {
    const { store } = this;
    const { entries, revision } = await store.list(claimPrefix, {
      consistency: { kind: 'any' },
      timeoutMs: readTimeoutMs,
    });
    if (this.stopped) return;
    this.holders.clear();
    for (const entry of entries) this.put(entry);
    const handle = store.watch({
      prefix: claimPrefix,
      afterRevision: revision,
      onEvents: (events) => {
        for (const event of events) {
          if (event.kind === 'put') this.put(event.entry);
          else this.holders.delete(event.key.slice(claimPrefix.length));
        }
      },
      onEnd: (error) => this.restart(error),
    });
    this.stopWatch = () => handle.close();
    this.synced = true;
  }

  /** History has gone past the watch, as when a snapshot was installed: everything is read anew. */
  private restart(ended: StoreError): void {
    if (this.stopped || ended.code === 'Stopped') return;
    this.logger.info({ err: ended }, 'claims are read anew');
    this.start();
  }

  taken(key: string): boolean {
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

/** What a commit does besides writing the object: takes new claims, lets go of those no longer held. */
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
