/**
 * Compacts history older than the retention, once per interval for all API servers: each server
 * tries to replace a shared key whose version it saw last, and only the one that succeeds compacts.
 * The value of the key is the compacted revision of etcd.
 */
import type { Clock, Logger, Timer } from '@orch/component';
import { type Revision, StoreError } from '../../versioned-store.js';
import type { EtcdCluster } from '../client/etcd-cluster.js';
import { compact, compareResult, compareTarget, type TxnRequest, txn } from '../client/messages.js';
import { compactionKey, toEtcdRevision, toStoreRevision } from '../layout/key-layout.js';

const timeoutMs = 10_000;

export interface CompactorHooks {
  /** Returns the newest revision older than the retention; 0 if none is recorded. */
  target(): Revision;
  /** History below `revision` is gone. */
  compacted(revision: Revision): void;
}

export class Compactor {
  private timer: Timer | undefined;
  private seenVersion = 0;
  private stopped = false;

  constructor(
    private readonly cluster: EtcdCluster,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly intervalMs: number,
    private readonly hooks: CompactorHooks,
  ) {}

  start(): void {
    this.timer = this.clock.setTimer(this.intervalMs, () => void this.tick());
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  /** Compacts regardless of other servers. Rejects with StoreError. */
  async compact(revision: Revision): Promise<void> {
    try {
      // Compaction is idempotent, so it is retried like a read.
      await this.cluster.read(compact, { revision: toEtcdRevision(revision) }, timeoutMs);
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'Compacted') throw error;
    }
    this.hooks.compacted(revision);
  }

  /** Returns whether this server compacted. Rejects with StoreError. */
  async round(): Promise<boolean> {
    const target = this.hooks.target();
    if (target === 0) return false;
    const response = await this.cluster.write(txn, this.claim(target), timeoutMs);
    if (!response.succeeded) {
      const kv = response.responses[0]?.responseRange?.kvs[0];
      this.seenVersion = kv?.version ?? 0;
      const theirs = Number(kv?.value.toString('latin1'));
      if (theirs > 0) this.hooks.compacted(toStoreRevision(theirs));
      return false;
    }
    this.seenVersion += 1;
    await this.compact(target);
    this.logger.debug({ revision: target }, 'history compacted');
    return true;
  }

  private claim(target: Revision): TxnRequest {
    const key = compactionKey;
    return {
      compare: [
        {
          key,
          target: compareTarget.version,
          result: compareResult.equal,
          version: this.seenVersion,
        },
      ],
      success: [{ requestPut: { key, value: Buffer.from(String(toEtcdRevision(target))) } }],
      failure: [{ requestRange: { key, limit: 1 } }],
    };
  }

  private async tick(): Promise<void> {
    try {
      await this.round();
    } catch (error) {
      // The next round retries: compaction depends on the state, not on an event.
      if (!(error instanceof StoreError)) throw error;
      if (!this.stopped) this.logger.warn({ error }, 'compaction is put off to the next round');
    }
    if (!this.stopped) this.start();
  }
}
