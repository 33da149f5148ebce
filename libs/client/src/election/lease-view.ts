/**
 * What one candidate knows about the lease, and what it may do. Pure, and free of wall time: another
 * holder's lease ends one lease duration after the moment at which *we* first saw its latest renewal,
 * by our own monotonic clock. The holder counts from before it sent that renewal and stops earlier, so
 * two holders never overlap, however far apart the wall clocks are.
 */

export interface LeaseRecord {
  holderIdentity: string;
  leaseDurationMs: number;
  /** Any text that changes with each renewal. */
  renewal: string;
}

export class LeaseView {
  private seen: LeaseRecord | undefined;
  private seenAtMs = 0;

  constructor(private readonly identity: string) {}

  get holder(): string {
    return this.seen?.holderIdentity ?? '';
  }

  /** Notes the record as read at `nowMs` (monotonic). */
  observe(record: LeaseRecord, nowMs: number): void {
    const { seen } = this;
    const isNew =
      !seen ||
      seen.holderIdentity !== record.holderIdentity ||
      seen.renewal !== record.renewal ||
      seen.leaseDurationMs !== record.leaseDurationMs;
    if (!isNew) return;
    this.seen = record;
    this.seenAtMs = nowMs;
  }

  /** Whether this candidate may write itself into the lease now. */
  mayTake(nowMs: number): boolean {
    const { seen } = this;
    if (!seen || seen.holderIdentity === '' || seen.holderIdentity === this.identity) return true;
    return nowMs - this.seenAtMs > seen.leaseDurationMs;
  }
}
