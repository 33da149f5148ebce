/**
 * The servers of one etcd cluster: every call goes to the server that responded last, and to the
 * next one if it fails. Invariants: reads are retried on other servers until their deadline; a
 * write is retried only if it certainly had no effect; responses of servers of another cluster are
 * discarded.
 */
import type { Logger, LoopClock } from '@orch/component';
import { sleep } from '@orch/component';
import { StoreError } from '../../versioned-store.js';
import type { ResolvedEtcdOptions } from '../etcd-options.js';
import { connectTimeoutMs, readAttemptMs, retryDelayMs } from '../limits.js';
import { asRefusal, certainlyNotTaken, EtcdError, isLeaseGone } from './errors.js';
import { channelCredentials, EtcdMember } from './etcd-member.js';
import { type Method, status } from './messages.js';

const always = () => true;

export class EtcdCluster {
  private readonly members: readonly EtcdMember[];
  private current = 0;
  private clusterId: string | undefined;
  /** Members of another cluster that were reported. */
  private readonly strangers = new Set<EtcdMember>();
  private readonly stopped = new AbortController();

  constructor(
    options: ResolvedEtcdOptions,
    private readonly clock: LoopClock,
    private readonly logger: Logger,
  ) {
    const channel = channelCredentials(options);
    this.members = options.addresses.map((address) => new EtcdMember(address, channel(), clock));
  }

  close(): void {
    this.stopped.abort(new StoreError('Stopped', 'the store is stopped'));
    for (const member of this.members) member.close();
  }

  /** Retries until the deadline. Rejects with StoreError; `TooLarge` refers to the response. */
  async read<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
  ): Promise<Response> {
    const tryMs = this.members.length > 1 ? readAttemptMs : timeoutMs;
    return this.repeated(timeoutMs, always, (member, remainingMs) =>
      member.call(method, request, Math.min(remainingMs, tryMs)),
    );
  }

  /**
   * Rejects with StoreError `OutcomeUnknown` if the write may have taken effect, with another
   * StoreError if it did not, and with EtcdError if its lease has ended (it did not take effect
   * either).
   */
  async write<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
  ): Promise<Response> {
    return this.repeated(timeoutMs, certainlyNotTaken, (member, remainingMs) =>
      member.call(method, request, remainingMs),
    );
  }

  /** Returns a connected server of this cluster, trying all of them until the deadline. */
  async member(timeoutMs: number): Promise<EtcdMember> {
    return this.repeated(timeoutMs, always, async (member) => member);
  }

  /** The next call starts with another server than `failed`. */
  leave(failed: EtcdMember): void {
    failed.version = undefined;
    if (this.members[this.current] !== failed) return;
    this.current = (this.current + 1) % this.members.length;
  }

  private async repeated<Response>(
    timeoutMs: number,
    mayRepeat: (error: EtcdError) => boolean,
    attempt: (member: EtcdMember, remainingMs: number) => Promise<Response>,
  ): Promise<Response> {
    const deadlineMs = this.clock.monotonicMs() + timeoutMs;
    for (;;) {
      const member = this.members[this.current]!;
      let sent = false;
      try {
        await this.admit(member, deadlineMs - this.clock.monotonicMs());
        const remainingMs = deadlineMs - this.clock.monotonicMs();
        sent = true;
        return await attempt(member, remainingMs);
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        if (sent && isLeaseGone(error)) throw error;
        const refusal = sent ? asRefusal(error) : undefined;
        if (refusal) throw refusal;
        this.leave(member);
        if (sent && !mayRepeat(error)) throw new StoreError('OutcomeUnknown', error.message);
        this.stopped.signal.throwIfAborted();
        if (this.clock.monotonicMs() + retryDelayMs >= deadlineMs) {
          throw new StoreError('Unavailable', error.message);
        }
        await sleep(retryDelayMs, this.stopped.signal, this.clock);
      }
    }
  }

  /** Connects and checks the cluster id. Rejects with EtcdError. */
  private async admit(member: EtcdMember, remainingMs: number): Promise<void> {
    this.stopped.signal.throwIfAborted();
    await member.connected(Math.min(remainingMs, connectTimeoutMs));
    if (member.version !== undefined) return;
    const { header, version } = await member.call(
      status,
      {},
      Math.min(remainingMs, connectTimeoutMs),
    );
    this.clusterId ??= header.clusterId;
    if (header.clusterId !== this.clusterId) {
      if (!this.strangers.has(member)) {
        this.strangers.add(member);
        this.logger.error(
          { address: member.address, clusterId: header.clusterId, expected: this.clusterId },
          'etcd server of another cluster is not used',
        );
      }
      throw new EtcdError(14, 'it belongs to another etcd cluster', member.address);
    }
    this.strangers.delete(member);
    member.version = version;
  }
}
