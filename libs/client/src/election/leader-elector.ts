/**
 * Elects one leader among processes by a record in the API, usually a Lease. Holds the timing;
 * `LeaseView` decides when a lease may be acquired. A leader counts its renew deadline from the
 * sending of its last successful renewal, and `isLeader` reads the monotonic clock each time, so
 * that a process that was suspended does not act as leader.
 *
 * A hung server must not cost the leadership: each renewal attempt has a timeout that leaves time
 * for attempts on two other servers within the renew deadline.
 */
import { formatMicroTime } from '@orch/apimachinery';
import {
  type Clock,
  type LeaderElectionLock,
  type Logger,
  type Metrics,
  sleep,
  systemClock,
  type Timer,
} from '@orch/component';
import type { ApiClient } from '../rest/api-client.js';
import { isAlreadyExists, isConflict, isNotFound } from '../rest/api-error.js';
import type { CallOptions } from '../rest/resource-client.js';
import { createLock } from './create-lock.js';
import type { ElectionLock, ElectionRecord, ObservedRecord } from './election-lock.js';
import { LeaseView } from './lease-view.js';

export interface LeaderElectorOptions {
  client: ApiClient;
  /** Kind of the lock object; a Lease by default. */
  resourceLock?: LeaderElectionLock;
  /** Namespace and name of the lock object. */
  namespace: string;
  name: string;
  /** Unique to this process. */
  identity: string;
  /** The URL at which this process serves. It writes it to the lock object while it leads. */
  servingUrl?: string | undefined;
  /** How long candidates wait for a renewal before they acquire the lease. */
  leaseDurationMs?: number;
  /**
   * How long a leader retries renewals before it stops leading; shorter than the lease duration.
   */
  renewDeadlineMs?: number;
  retryPeriodMs?: number;
  logger: Logger;
  metrics?: Metrics;
  clock?: Clock;
  random?: () => number;
  /**
   * Called when leading. The signal aborts when the leadership ends, before another process can
   * lead.
   */
  onStartedLeading(signal: AbortSignal): void;
  /** Called when the leadership is lost other than by `stop`; processes usually exit here. */
  onLost(): void;
  onNewLeader?(identity: string): void;
}

/**
 * Renewal attempts that fit between the start of the first one and the renew deadline, even if each
 * times out. Higher: a slow server counts as hung earlier. Lower: a hung server can cost the
 * leadership.
 */
const renewAttemptCount = 3;
/** The pause after a failed renewal, as a share of the retry period. */
const failedRetryShare = 0.25;
/** Candidates spread their attempts by up to this share of the retry period. */
const jitterFactor = 1.2;

export class LeaderElector {
  private readonly clock: Clock;
  private readonly leaseDurationMs: number;
  private readonly renewDeadlineMs: number;
  private readonly retryPeriodMs: number;
  private readonly view: LeaseView;
  private readonly stopping = new AbortController();
  private readonly lock: ElectionLock;
  private record: ObservedRecord | undefined;
  private leading: AbortController | undefined;
  private deadlineTimer: Timer | undefined;
  private leadsUntilMs = 0;
  private reportedLeader = '';
  private running: Promise<void> | undefined;

  constructor(private readonly options: LeaderElectorOptions) {
    this.clock = options.clock ?? systemClock;
    this.leaseDurationMs = options.leaseDurationMs ?? 15_000;
    this.renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
    this.retryPeriodMs = options.retryPeriodMs ?? 2_000;
    if (this.leaseDurationMs <= this.renewDeadlineMs) {
      throw new RangeError(
        `the lease duration (${this.leaseDurationMs} ms) must exceed the renew deadline (${this.renewDeadlineMs} ms)`,
      );
    }
    if (this.renewDeadlineMs <= this.retryPeriodMs * jitterFactor) {
      throw new RangeError(
        `the renew deadline (${this.renewDeadlineMs} ms) must exceed ${jitterFactor} times the retry period (${this.retryPeriodMs} ms)`,
      );
    }
    this.view = new LeaseView(options.identity);
    const { client, namespace, name, servingUrl, resourceLock = 'leases' } = options;
    this.lock = createLock({ client, namespace, name, servingUrl, resourceLock });
    options.metrics?.gauge({
      name: 'leader_election_master_status',
      help: 'Whether this process leads by the lease of this name: 1 when it does, else 0.',
      labels: ['name'],
      collect: (gauge) => gauge.set({ name: options.name }, this.isLeader() ? 1 : 0),
    });
  }

  start(): void {
    this.running ??= this.run();
  }

  isLeader(): boolean {
    return this.leading !== undefined && this.clock.monotonicMs() < this.leadsUntilMs;
  }

  /**
   * Throws if this process still acts as the leader although its lease ended more than
   * `toleranceMs` ago: the process hangs.
   */
  checkRenewal(toleranceMs: number): void {
    if (!this.leading) return;
    const overdueMs = this.clock.monotonicMs() - this.leadsUntilMs;
    if (overdueMs <= toleranceMs) return;
    throw new Error(`failed election to renew leadership on lease ${this.options.name}`);
  }

  /** Stops. A leader releases the lease, so that a candidate can acquire it immediately. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('leader election is stopped'));
    await this.running;
    const wasLeader = this.isLeader();
    this.endLeading();
    if (wasLeader) await this.release();
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    const random = this.options.random ?? Math.random;
    while (!signal.aborted) {
      const startMs = this.clock.monotonicMs();
      const isDone = await this.tryOnce();
      if (signal.aborted) return;
      // Counted from the start of the attempt: a slow or failed one does not delay the next.
      const delayMs = this.leading
        ? this.retryPeriodMs * (isDone ? 1 : failedRetryShare) -
          (this.clock.monotonicMs() - startMs)
        : this.retryPeriodMs * (1 + jitterFactor * random());
      try {
        await sleep(Math.max(0, delayMs), signal, this.clock);
      } catch (reason) {
        if (!signal.aborted) throw reason;
      }
    }
  }

  /** @returns whether the requests succeeded. */
  private async tryOnce(): Promise<boolean> {
    let isDone = false;
    try {
      const startedMs = this.clock.monotonicMs();
      if (await this.acquireOrRenew()) this.renewed(startedMs);
      else if (this.leading) this.lost('another process holds the lease');
      isDone = true;
    } catch (error) {
      if (this.stopping.signal.aborted) return false;
      this.options.logger.warn({ err: error, lease: this.options.name }, 'lease request failed');
    }
    this.reportLeader();
    return isDone;
  }

  /** @returns whether this call has written this process into the lease. */
  private async acquireOrRenew(): Promise<boolean> {
    const call = {
      timeoutMs: (this.renewDeadlineMs - this.retryPeriodMs) / renewAttemptCount,
      sendOnce: true,
      signal: this.stopping.signal,
    };
    // A leader already has the record that it wrote last.
    if (!this.leading || !this.record) this.note(await this.lock.read(call));
    if (this.record && !this.view.mayAcquire(this.clock.monotonicMs())) return false;
    try {
      await this.write(call);
      return true;
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
      this.note(await this.lock.read(call));
      if (!this.leading || this.view.holder !== this.options.identity) return false;
      // An earlier renewal without a response was stored after all, or another writer changed the
      // lock object.
      await this.write(call);
      return true;
    }
  }

  private async write(call: CallOptions): Promise<void> {
    this.note(await this.lock.write(this.desiredRecord(this.record), call));
  }

  private note(record: ObservedRecord | undefined): void {
    this.record = record;
    if (!record) return;
    const { holderIdentity, leaseDurationSeconds, renewal } = record;
    this.view.observe(
      { holderIdentity, leaseDurationMs: leaseDurationSeconds * 1000, renewal },
      this.clock.monotonicMs(),
    );
  }

  private desiredRecord(current: ObservedRecord | undefined): ElectionRecord {
    const now = formatMicroTime(this.clock.nowMs());
    const isOurs = current?.holderIdentity === this.options.identity;
    const transitionCount = current?.transitionCount ?? 0;
    return {
      holderIdentity: this.options.identity,
      leaseDurationSeconds: Math.max(1, Math.round(this.leaseDurationMs / 1000)),
      acquireTime: (isOurs && current?.acquireTime) || now,
      renewTime: now,
      transitionCount: isOurs || !current ? transitionCount : transitionCount + 1,
    };
  }

  private renewed(startedMs: number): void {
    this.leadsUntilMs = startedMs + this.renewDeadlineMs;
    this.deadlineTimer?.cancel();
    const remainingMs = this.leadsUntilMs - this.clock.monotonicMs();
    this.deadlineTimer = this.clock.setTimer(Math.max(0, remainingMs), () => {
      this.lost('the lease was not renewed within the renew deadline');
    });
    if (this.leading || remainingMs <= 0 || this.stopping.signal.aborted) return;
    this.leading = new AbortController();
    this.options.logger.info({ lease: this.options.name }, 'became the leader');
    this.options.onStartedLeading(this.leading.signal);
  }

  private lost(cause: string): void {
    if (!this.leading) return;
    this.endLeading();
    this.options.logger.error({ lease: this.options.name, cause }, 'lost the leadership');
    this.options.onLost();
  }

  private endLeading(): void {
    this.deadlineTimer?.cancel();
    this.deadlineTimer = undefined;
    this.leading?.abort(new Error('no longer the leader'));
    this.leading = undefined;
  }

  private async release(): Promise<void> {
    if (!this.record) return;
    const now = formatMicroTime(this.clock.nowMs());
    const { transitionCount } = this.record;
    const released: ElectionRecord = {
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
      transitionCount,
    };
    try {
      await this.lock.write(released, { timeoutMs: this.retryPeriodMs });
    } catch (error) {
      this.options.logger.warn({ err: error, lease: this.options.name }, 'lease was not released');
    }
  }

  private reportLeader(): void {
    const { holder } = this.view;
    if (holder === this.reportedLeader) return;
    this.reportedLeader = holder;
    if (holder !== '') this.options.onNewLeader?.(holder);
  }
}
