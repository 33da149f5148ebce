/**
 * The servers of one etcd cluster: every call goes to the one that answered last, and to the next when
 * it fails. Invariants: reads are repeated on other servers until their deadline; a write is repeated
 * only when it certainly did not happen; no server of another cluster is ever believed.
 */
import type { Logger, LoopClock } from '@orch/component';
import { sleep } from '@orch/component';
import { StoreError } from '../versioned-store.js';
import { asRefusal, certainlyNotTaken, EtcdError, isLeaseGone } from './errors.js';
import { channelCredentials, EtcdMember } from './etcd-member.js';
import type { ResolvedEtcdOptions } from './etcd-options.js';
import { CONNECT_TIMEOUT_MS, READ_TRY_MS, RETRY_DELAY_MS } from './limits.js';
import { type Method, status } from './messages.js';

const always = () => true;

export class EtcdCluster {
  readonly #members: readonly EtcdMember[];
  #current = 0;
  #clusterId: string | undefined;
  /** Members that belong to another cluster, of which it was told. */
  readonly #strangers = new Set<EtcdMember>();
  readonly #stopped = new AbortController();

  constructor(
    options: ResolvedEtcdOptions,
    private readonly clock: LoopClock,
    private readonly logger: Logger,
  ) {
    const channel = channelCredentials(options);
    this.#members = options.addresses.map((address) => new EtcdMember(address, channel, clock));
  }

  close(): void {
    this.#stopped.abort(new StoreError('Stopped', 'the store is stopped'));
    for (const member of this.#members) member.close();
  }

  /** Repeated until the deadline. Rejects with StoreError; `TooLarge`: the answer is. */
  async read<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
  ): Promise<Response> {
    const tryMs = this.#members.length > 1 ? READ_TRY_MS : timeoutMs;
    return this.#repeated(timeoutMs, always, (member, remainingMs) =>
      member.call(method, request, Math.min(remainingMs, tryMs)),
    );
  }

  /**
   * Rejects with StoreError `OutcomeUnknown` when it may have happened, with another when it has not,
   * and with EtcdError when the lease that it names is over (it has not happened either).
   */
  async write<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
  ): Promise<Response> {
    return this.#repeated(timeoutMs, certainlyNotTaken, (member, remainingMs) =>
      member.call(method, request, remainingMs),
    );
  }

  /** A connected server of this cluster, tried in turn until the deadline. */
  async member(timeoutMs: number): Promise<EtcdMember> {
    return this.#repeated(timeoutMs, always, async (member) => member);
  }

  /** The next call begins with another server than `failed`. */
  leave(failed: EtcdMember): void {
    failed.version = undefined;
    if (this.#members[this.#current] !== failed) return;
    this.#current = (this.#current + 1) % this.#members.length;
  }

  async #repeated<Response>(
    timeoutMs: number,
    mayRepeat: (error: EtcdError) => boolean,
    attempt: (member: EtcdMember, remainingMs: number) => Promise<Response>,
  ): Promise<Response> {
    const deadlineMs = this.clock.monotonicMs() + timeoutMs;
    for (;;) {
      const member = this.#members[this.#current]!;
      let sent = false;
      try {
        await this.#admit(member, deadlineMs - this.clock.monotonicMs());
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
        this.#stopped.signal.throwIfAborted();
        if (this.clock.monotonicMs() + RETRY_DELAY_MS >= deadlineMs) {
          throw new StoreError('Unavailable', error.message);
        }
        await sleep(RETRY_DELAY_MS, this.#stopped.signal, this.clock);
      }
    }
  }

  /** Connected, and of this cluster. Rejects with EtcdError. */
  async #admit(member: EtcdMember, remainingMs: number): Promise<void> {
    this.#stopped.signal.throwIfAborted();
    await member.connected(Math.min(remainingMs, CONNECT_TIMEOUT_MS));
    if (member.version !== undefined) return;
    const { header, version } = await member.call(
      status,
      {},
      Math.min(remainingMs, CONNECT_TIMEOUT_MS),
    );
    this.#clusterId ??= header.clusterId;
    if (header.clusterId !== this.#clusterId) {
      if (!this.#strangers.has(member)) {
        this.#strangers.add(member);
        this.logger.error(
          { address: member.address, clusterId: header.clusterId, expected: this.#clusterId },
          'etcd server of another cluster is not used',
        );
      }
      throw new EtcdError(14, 'it belongs to another etcd cluster', member.address);
    }
    this.#strangers.delete(member);
    member.version = version;
  }
}
