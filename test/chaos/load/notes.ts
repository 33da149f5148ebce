/** What all clients of a run did and saw, with moments of one clock; and what became of it so far. */
import type {
  ReadRecord,
  WriteOperation,
  WriteOutcome,
  WriteRecord,
} from '../../history/history.js';

/** A deletion that was acknowledged: its answer names no revision, its event does, by the uid. */
export interface NotedWrite extends WriteRecord {
  deletedUid?: string;
}

export interface OddAnswer {
  readonly at: number;
  readonly detail: string;
}

const oddAnswersMax = 100;

export class Notes {
  readonly writes: NotedWrite[] = [];
  readonly reads: ReadRecord[] = [];
  /** Answers that no server should give, whatever happens to it. */
  readonly odd: OddAnswer[] = [];
  readonly failures = { refused: 0, unknown: 0, failedReads: 0 };
  acknowledged = 0;

  now(): number {
    return performance.now();
  }

  begin(client: string, operations: readonly WriteOperation[]): NotedWrite {
    const write: NotedWrite = {
      kind: 'write',
      client,
      startedAt: this.now(),
      operations,
      outcome: { kind: 'unknown' },
    };
    this.writes.push(write);
    return write;
  }

  end(write: NotedWrite, outcome: WriteOutcome): void {
    write.outcome = outcome;
    if (outcome.kind !== 'unknown') write.endedAt = this.now();
    if (outcome.kind === 'applied') this.acknowledged += 1;
    if (outcome.kind === 'refused') this.failures.refused += 1;
    if (outcome.kind === 'unknown') this.failures.unknown += 1;
  }

  read(record: Omit<ReadRecord, 'kind' | 'endedAt'>): void {
    this.reads.push({ kind: 'read', ...record, endedAt: this.now() });
  }

  surprise(detail: string): void {
    if (this.odd.length < oddAnswersMax) this.odd.push({ at: this.now(), detail });
  }

  /** When the first write that began after `since` was acknowledged. */
  firstAcknowledgedAfter(since: number): number | undefined {
    let first: number | undefined;
    for (let at = this.writes.length - 1; at >= 0; at -= 1) {
      const { startedAt, endedAt, outcome } = this.writes[at]!;
      if (startedAt < since) break;
      if (outcome.kind !== 'applied' || endedAt === undefined) continue;
      if (first === undefined || endedAt < first) first = endedAt;
    }
    return first;
  }
}
