/**
 * Compacts what is older than the retention, once an interval whoever of the API servers comes first:
 * each replaces a key of all of them if it is still at the version that this one last saw, and only who
 * succeeds compacts. The key's value is the revision of etcd that is compacted to.
 */
import type { Clock, Logger, Timer } from '@orch/component';
import { type Revision, StoreError } from '../versioned-store.js';
import type { EtcdCluster } from './etcd-cluster.js';
import { COMPACTION_KEY, toEtcdRevision, toStoreRevision } from './key-layout.js';
import { compact, compareResult, compareTarget, type TxnRequest, txn } from './messages.js';

const TIMEOUT_MS = 10_000;

export interface CompactorHooks {
  /** The newest revision that is older than the retention; 0 when none is known to be. */
  target(): Revision;
  /** History below is gone. */
  compacted(revision: Revision): void;
}

export class Compactor {
  #timer: Timer | undefined;
  #seenVersion = 0;
  #stopped = false;

  constructor(
    private readonly cluster: EtcdCluster,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly intervalMs: number,
    private readonly hooks: CompactorHooks,
  ) {}

  start(): void {
    this.#timer = this.clock.setTimer(this.intervalMs, () => void this.#tick());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Compacts whatever others do. Rejects with StoreError. */
  async compact(revision: Revision): Promise<void> {
    try {
      // The same again does no harm, so it may be repeated like a read.
      await this.cluster.read(compact, { revision: toEtcdRevision(revision) }, TIMEOUT_MS);
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'Compacted') throw error;
    }
    this.hooks.compacted(revision);
  }

  /** True when it was this server's turn. Rejects with StoreError. */
  async round(): Promise<boolean> {
    const target = this.hooks.target();
    if (target === 0) return false;
    const answer = await this.cluster.write(txn, this.#claim(target), TIMEOUT_MS);
    if (!answer.succeeded) {
      const kv = answer.responses[0]?.responseRange?.kvs[0];
      this.#seenVersion = kv?.version ?? 0;
      const theirs = Number(kv?.value.toString('latin1'));
      if (theirs > 0) this.hooks.compacted(toStoreRevision(theirs));
      return false;
    }
    this.#seenVersion += 1;
    await this.compact(target);
    this.logger.debug({ revision: target }, 'history compacted');
    return true;
  }

  #claim(target: Revision): TxnRequest {
    const key = COMPACTION_KEY;
    return {
      compare: [
        {
          key,
          target: compareTarget.version,
          result: compareResult.equal,
          version: this.#seenVersion,
        },
      ],
      success: [{ requestPut: { key, value: Buffer.from(String(toEtcdRevision(target))) } }],
      failure: [{ requestRange: { key, limit: 1 } }],
    };
  }

  async #tick(): Promise<void> {
    try {
      await this.round();
    } catch (error) {
      // The next round tries again: it is a condition on the state, not an event.
      if (!(error instanceof StoreError)) throw error;
      if (!this.#stopped) this.logger.warn({ error }, 'compaction put off');
    }
    if (!this.#stopped) this.start();
  }
}
