/**
 * The admission chain: plugins in a fixed order that may change an object before it is validated
 * and reject the request afterwards. Reads are not admitted, connections are.
 */
import type { ApiObject } from '@orch/api';
import type { JsonObject } from '@orch/apimachinery';
import type { Clock } from '@orch/component';
import { type Operation, StoreError } from '@orch/store';
import type { DeleteOptions } from '../objects/delete-options.js';
import type { ServedResource } from '../table/resource.js';
import type { WriteContext } from '../write-context.js';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
export type AdmissionPhase = 'admit' | 'validate';

export interface AdmissionRequest {
  readonly operation: AdmissionOperation;
  readonly served: ServedResource;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** In the stored shape; undefined for a delete. The options of a connection. */
  readonly object: ApiObject | undefined;
  readonly old: ApiObject | undefined;
  readonly context: WriteContext;
  /** The name that the client sent, if `name` may have changed since then. */
  readonly requestedName?: string;
  /** Present for a delete. */
  readonly deleteOptions?: DeleteOptions;
  /** What webhooks see in place of the object. `none`: they have seen the request already. */
  readonly review?: ReviewedView | 'none' | undefined;
}

/** A part of an object, or an action on it, as a kind of its own. */
export interface ReviewedView {
  readonly apiVersion: string;
  readonly kind: string;
  /** As JSON. */
  document(): JsonObject;
  /** Undefined for an action. */
  oldDocument(): JsonObject | undefined;
  /** Writes a changed document into the object. Throws SchemaError and StatusError. */
  accept(document: JsonObject): void;
}

/** One of the two rounds of mutation; the second runs if a plugin requires it. */
export interface MutationRound {
  readonly index: 0 | 1;
  /** The plugins before this one must see its changes: they run again. */
  requireReinvocation(): void;
}

/** The kind of a request: the same for every object of a resource. */
export type AdmittedAction = Pick<AdmissionRequest, 'served' | 'operation' | 'subresource'>;

export interface AdmissionPlugin {
  readonly name: string;
  /** Whether it takes part in such requests; called once for each kind. Absent: in all. */
  handles?(action: AdmittedAction): boolean;
  /** Called before the first request. */
  start?(): void;
  stop?(): void;
  /** Whether the plugin has read its configuration; absent: it needs none. */
  isSynced?(): boolean;
  /** May change `request.object`. Throws StatusError to reject the request. */
  mutate?(request: AdmissionRequest, round: MutationRound): Promise<void> | void;
  /** Throws StatusError to reject the request. */
  validate?(request: AdmissionRequest): Promise<void> | void;
  /**
   * Checks that the commit of a create makes atomically, because another server may have changed
   * what the plugin read. Called again, and may reject, if a check fails.
   */
  expectations?(request: AdmissionRequest): Promise<Operation[]>;
  /**
   * Reserves, right before the commit, the object's share of a limited resource. Throws StatusError
   * to reject the request; undefined: nothing is reserved.
   */
  reserve?(request: AdmissionRequest): Promise<Reservation | undefined>;
}

export interface Reservation {
  /** Returns the reservation: the object was not stored. */
  cancel(): Promise<void>;
}

export interface AdmissionOutcome {
  readonly operation: AdmissionOperation;
  readonly isRejected: boolean;
}

/** Records durations. Called synchronously on the request path. */
export interface AdmissionDurations {
  observe(seconds: number): void;
}

/** Provides the durations of each plugin and of each phase as a whole. */
export interface AdmissionObserver {
  plugin(name: string, phase: AdmissionPhase, outcome: AdmissionOutcome): AdmissionDurations;
  step(phase: AdmissionPhase, outcome: AdmissionOutcome): readonly AdmissionDurations[];
}

type Work = (request: AdmissionRequest, round: MutationRound) => Promise<void> | void;

interface Participant {
  readonly plugin: AdmissionPlugin;
  readonly work: Work;
}

/** `accepted`: durations of the requests that were accepted, created at the first. */
interface Link extends Participant {
  accepted: AdmissionDurations | undefined;
}

/** The links of the plugins that take part in requests of one kind. */
interface Chain {
  readonly links: readonly Link[];
  accepted: readonly AdmissionDurations[] | undefined;
}

/** Both rounds of a request: plugins keep by it what the second needs of the first. */
class Round implements MutationRound {
  index: 0 | 1 = 0;
  isReinvocationRequired = false;

  requireReinvocation(): void {
    this.isReinvocationRequired = true;
  }
}

/** The plugins that take part in one phase. */
class Phase {
  private readonly participants: Participant[] = [];
  /** By resource and action. */
  private readonly chains = new WeakMap<ServedResource, Map<string, Chain>>();

  constructor(
    private readonly phase: AdmissionPhase,
    private readonly clock: Clock,
    private readonly observer: AdmissionObserver,
  ) {}

  add(plugin: AdmissionPlugin, work: Work): void {
    this.participants.push({ plugin, work });
  }

  /** Runs a second round if a plugin requires it. */
  async run(request: AdmissionRequest): Promise<void> {
    const { clock, observer, phase } = this;
    const { operation } = request;
    const chain = this.chainOf(request);
    const startMs = clock.monotonicMs();
    const round = new Round();
    try {
      let endMs = await this.runRound(chain, request, round, startMs);
      if (round.isReinvocationRequired) {
        round.index = 1;
        endMs = await this.runRound(chain, request, round, endMs);
      }
      chain.accepted ??= observer.step(phase, { operation, isRejected: false });
      for (const durations of chain.accepted) durations.observe((endMs - startMs) / 1_000);
    } catch (error) {
      const seconds = (clock.monotonicMs() - startMs) / 1_000;
      const rejected = observer.step(phase, { operation, isRejected: true });
      for (const durations of rejected) durations.observe(seconds);
      throw error;
    }
  }

  /** Returns the time at the end. The clock is read once between two plugins. */
  private async runRound(
    { links }: Chain,
    request: AdmissionRequest,
    round: MutationRound,
    startMs: number,
  ): Promise<number> {
    const { clock, observer, phase } = this;
    const { operation } = request;
    let sinceMs = startMs;
    let at = 0;
    try {
      for (; at < links.length; at += 1) {
        const link = links[at]!;
        const pending = link.work(request, round);
        if (pending) await pending;
        const nowMs = clock.monotonicMs();
        const { name } = link.plugin;
        link.accepted ??= observer.plugin(name, phase, { operation, isRejected: false });
        link.accepted.observe((nowMs - sinceMs) / 1_000);
        sinceMs = nowMs;
      }
    } catch (error) {
      const { name } = links[at]!.plugin;
      const rejected = observer.plugin(name, phase, { operation, isRejected: true });
      rejected.observe((clock.monotonicMs() - sinceMs) / 1_000);
      throw error;
    }
    return sinceMs;
  }

  private chainOf(action: AdmittedAction): Chain {
    const { served, operation, subresource } = action;
    let byAction = this.chains.get(served);
    if (!byAction) {
      byAction = new Map();
      this.chains.set(served, byAction);
    }
    const key = subresource === '' ? operation : `${operation} ${subresource}`;
    let chain = byAction.get(key);
    if (!chain) {
      const links = this.participants
        .filter(({ plugin }) => plugin.handles?.(action) ?? true)
        .map((participant) => ({ ...participant, accepted: undefined }));
      chain = { links, accepted: undefined };
      byAction.set(key, chain);
    }
    return chain;
  }
}

export class Admission {
  private readonly mutating: Phase;
  private readonly validating: Phase;
  /** Few plugins take part in the commit. */
  private readonly expecting: readonly AdmissionPlugin[];
  private readonly reservers: readonly AdmissionPlugin[];
  private isStarted = false;

  constructor(
    private readonly plugins: readonly AdmissionPlugin[],
    clock: Clock,
    observer: AdmissionObserver,
  ) {
    this.expecting = plugins.filter((plugin) => plugin.expectations);
    this.reservers = plugins.filter((plugin) => plugin.reserve);
    this.mutating = new Phase('admit', clock, observer);
    this.validating = new Phase('validate', clock, observer);
    for (const plugin of plugins) {
      if (plugin.mutate) this.mutating.add(plugin, plugin.mutate.bind(plugin));
      if (plugin.validate) this.validating.add(plugin, plugin.validate.bind(plugin));
    }
  }

  start(): void {
    for (const plugin of this.plugins) plugin.start?.();
    this.isStarted = true;
  }

  /** Whether every plugin is started and has read its configuration. */
  get isSynced(): boolean {
    return this.isStarted && this.plugins.every((plugin) => plugin.isSynced?.() ?? true);
  }

  stop(): void {
    for (const plugin of this.plugins) plugin.stop?.();
  }

  mutate(request: AdmissionRequest): Promise<void> {
    return this.mutating.run(request);
  }

  validate(request: AdmissionRequest): Promise<void> {
    return this.validating.run(request);
  }

  async expectations(request: AdmissionRequest): Promise<Operation[]> {
    const all = this.expecting.map((plugin) => plugin.expectations?.(request) ?? []);
    return (await Promise.all(all)).flat();
  }

  /** Reserves, commits, and cancels the reservations if the object is certainly not stored. */
  async reserving<T>(
    request: AdmissionRequest,
    commit: () => Promise<T>,
    isStored: (result: T) => boolean,
  ): Promise<T> {
    const reservations: Reservation[] = [];
    let isStoredNow = false;
    try {
      for (const plugin of this.reservers) {
        const reservation = await plugin.reserve?.(request);
        if (reservation) reservations.push(reservation);
      }
      const result = await commit();
      isStoredNow = isStored(result);
      return result;
    } catch (error) {
      isStoredNow = error instanceof StoreError && error.code === 'OutcomeUnknown';
      throw error;
    } finally {
      if (!isStoredNow) for (const reservation of reservations) await reservation.cancel();
    }
  }
}
