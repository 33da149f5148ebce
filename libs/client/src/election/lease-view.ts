/**
 * The lease as one candidate has observed it, and whether it may acquire it. Pure, and independent
 * of wall clocks: the lease of another holder expires one lease duration after this candidate first
 * observed its latest renewal, by its own monotonic clock. The holder counts from the sending of
 * that renewal and stops earlier, so that two holders never overlap.
 */

export interface LeaseRecord {
  holderIdentity: string;
  leaseDurationMs: number;
  /** Changes with each renewal. */
  renewal: string;
}

export class LeaseView {
  private seen: LeaseRecord | undefined;
  private seenAtMs = 0;

  constructor(private readonly identity: string) {}

  get holder(): string {
    return this.seen?.holderIdentity ?? '';
  }

  /** Notes the record, read at `nowMs` (monotonic). */
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

  /** Whether this candidate may acquire or renew the lease now. */
  mayAcquire(nowMs: number): boolean {
    const { seen } = this;
    if (!seen || seen.holderIdentity === '' || seen.holderIdentity === this.identity) return true;
    return nowMs - this.seenAtMs > seen.leaseDurationMs;
  }
}
