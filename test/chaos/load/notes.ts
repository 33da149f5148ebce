/** Records the calls and observations of all clients of a run, with times of one clock. */
import type {
  ReadRecord,
  WriteOperation,
  WriteOutcome,
  WriteRecord,
} from '../../history/history.js';

/** An acknowledged deletion: its response has no revision; its event does, by the uid. */
export interface NotedWrite extends WriteRecord {
  deletedUid?: string;
}

export interface UnexpectedResponse {
  readonly at: number;
  readonly detail: string;
}

const oddAnswersMax = 100;

export class Notes {
  readonly writes: NotedWrite[] = [];
  readonly reads: ReadRecord[] = [];
  /** Responses that no server may return, whatever the fault. */
  readonly unexpected: UnexpectedResponse[] = [];
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
    if (this.unexpected.length < oddAnswersMax) this.unexpected.push({ at: this.now(), detail });
  }

  /** Returns when the first write started after `since` was acknowledged. */
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
