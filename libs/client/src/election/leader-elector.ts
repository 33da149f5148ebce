/**
 * One leader at a time among processes, by a Lease object. Holds the timing of the loop; what may be
 * taken when is decided by `LeaseView`. A leader counts its deadline from before its last successful
 * renewal was sent, and `isLeader` asks the monotonic clock each time, so that a process that was
 * suspended never takes itself for the leader still.
 */
import { formatMicroTime } from '@orch/apimachinery';
import {
  type Clock,
  type Logger,
  type Metrics,
  sleep,
  systemClock,
  type Timer,
} from '@orch/component';
import type { Lease } from '@orch/types/coordination/v1';
import { isAlreadyExists, isConflict, isNotFound } from '../rest/api-error.js';
import { resources } from '../rest/resources.js';
import type { RestClient } from '../rest/rest-client.js';
import { LeaseView } from './lease-view.js';

export interface LeaderElectorOptions {
  client: RestClient;
  /** Of the Lease. */
  namespace: string;
  name: string;
  /** Unique to this process. */
  identity: string;
  /** How long others wait before they take over from a silent leader. */
  leaseDurationMs?: number;
  /** How long a leader tries to renew before it gives up; shorter than the lease. */
  renewDeadlineMs?: number;
  retryPeriodMs?: number;
  logger: Logger;
  metrics?: Metrics;
  clock?: Clock;
  random?: () => number;
  /** Called once leading; the signal aborts when leadership ends, at the latest before anyone else may lead. */
  onStartedLeading(signal: AbortSignal): void;
  /** Leadership lost other than by `stop`; processes usually exit here. */
  onLost(): void;
  onNewLeader?(identity: string): void;
}

/**
 * Attempts that fit into the renew deadline, each with an answer's time of its own: a server that does not
 * answer must leave time for another. More: a slow server is taken for a dead one; fewer: a dead one costs
 * the leadership.
 */
const renewAttemptCount = 4;
/** Share of the retry period after which a leader tries again when it could not renew. */
const failedRetryShare = 0.25;
/** Candidates spread their attempts by up to this factor, so that they do not collide. */
const jitterFactor = 1.2;

export class LeaderElector {
  private readonly clock: Clock;
  private readonly leaseDurationMs: number;
  private readonly renewDeadlineMs: number;
  private readonly retryPeriodMs: number;
  private readonly view: LeaseView;
  private readonly stopping = new AbortController();
  private lease: Lease | undefined;
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
      throw new RangeError('the lease duration must be longer than the renew deadline');
    }
    if (this.renewDeadlineMs <= this.retryPeriodMs * jitterFactor) {
      throw new RangeError(
        'the renew deadline must be longer than the retry period with its jitter',
      );
    }
    this.view = new LeaseView(options.identity);
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

  /** Stops and, when leading, gives the lease up so that another may take it at once. */
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
      const isDone = await this.tryOnce();
      if (signal.aborted) return;
      const delayMs = this.leading
        ? this.retryPeriodMs * (isDone ? 1 : failedRetryShare)
        : this.retryPeriodMs * (1 + jitterFactor * random());
      try {
        await sleep(delayMs, signal, this.clock);
      } catch (reason) {
        if (!signal.aborted) throw reason;
      }
    }
  }

  /** @returns whether the requests came through. */
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

  /** @returns whether the lease is ours, written since this call began. */
  private async acquireOrRenew(): Promise<boolean> {
    const leases = this.options.client.resource(resources.leases, this.options.namespace);
    const call = {
      timeoutMs: this.renewDeadlineMs / renewAttemptCount,
      sendOnce: true,
      signal: this.stopping.signal,
    };
    // A leader knows what it wrote last and need not read it first.
    if (!this.leading || !this.lease) {
      try {
        this.note(await leases.get(this.options.name, call));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        this.lease = undefined;
      }
    }
    if (this.lease && !this.view.mayTake(this.clock.monotonicMs())) return false;
    try {
      const desired = this.desiredLease(this.lease);
      const written = await (this.lease
        ? leases.replace(desired, call)
        : leases.create(desired, call));
      this.note(written);
      return true;
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
      // Somebody else wrote: look again. Still ours, with another change: the next round renews.
      this.note(await leases.get(this.options.name, call));
      if (this.leading && this.view.holder === this.options.identity) {
        throw new Error('the lease was changed by another writer', { cause: error });
      }
      return false;
    }
  }

  private note(lease: Lease): void {
    this.lease = lease;
    this.view.observe(
      {
        holderIdentity: lease.spec?.holderIdentity ?? '',
        leaseDurationMs: (lease.spec?.leaseDurationSeconds ?? 0) * 1000,
        renewal: `${lease.spec?.renewTime ?? ''}/${lease.metadata?.resourceVersion ?? ''}`,
      },
      this.clock.monotonicMs(),
    );
  }

  private desiredLease(current: Lease | undefined): Lease {
    const now = formatMicroTime(this.clock.nowMs());
    const isOurs = current?.spec?.holderIdentity === this.options.identity;
    const transitions = current?.spec?.leaseTransitions ?? 0;
    return {
      ...current,
      metadata: {
        ...current?.metadata,
        name: this.options.name,
        namespace: this.options.namespace,
      },
      spec: {
        ...current?.spec,
        holderIdentity: this.options.identity,
        leaseDurationSeconds: Math.max(1, Math.round(this.leaseDurationMs / 1000)),
        acquireTime: (isOurs && current?.spec?.acquireTime) || now,
        renewTime: now,
        leaseTransitions: isOurs || !current ? transitions : transitions + 1,
      },
    };
  }

  private renewed(startedMs: number): void {
    this.leadsUntilMs = startedMs + this.renewDeadlineMs;
    this.deadlineTimer?.cancel();
    const remainingMs = this.leadsUntilMs - this.clock.monotonicMs();
    this.deadlineTimer = this.clock.setTimer(Math.max(0, remainingMs), () => {
      this.lost('the lease could not be renewed in time');
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
    this.leading?.abort(new Error('not the leader any more'));
    this.leading = undefined;
  }

  private async release(): Promise<void> {
    if (!this.lease) return;
    const now = formatMicroTime(this.clock.nowMs());
    const released: Lease = {
      ...this.lease,
      spec: {
        ...this.lease.spec,
        holderIdentity: '',
        leaseDurationSeconds: 1,
        acquireTime: now,
        renewTime: now,
      },
    };
    try {
      await this.options.client
        .resource(resources.leases, this.options.namespace)
        .replace(released, { timeoutMs: this.retryPeriodMs });
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
