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

/** Records each outcome. Called synchronously on the request path. */
export type AdmissionTimer = (
  operation: AdmissionOperation,
  isRejected: boolean,
  seconds: number,
) => void;

/** Provides the timers of each plugin and of each phase as a whole. */
export interface AdmissionObserver {
  plugin(name: string, phase: AdmissionPhase): AdmissionTimer;
  step(phase: AdmissionPhase): AdmissionTimer;
}

type Work = (request: AdmissionRequest, round: MutationRound) => Promise<void> | void;

interface Link {
  readonly plugin: AdmissionPlugin;
  readonly work: Work;
  readonly timer: AdmissionTimer;
}

class Round implements MutationRound {
  index: 0 | 1 = 0;
  isReinvocationRequired = false;

  requireReinvocation(): void {
    this.isReinvocationRequired = true;
  }
}

/** The plugins that take part in one phase. */
class Phase {
  private readonly links: Link[] = [];
  /** By resource and action: the links that take part. */
  private readonly selected = new WeakMap<ServedResource, Map<string, readonly Link[]>>();
  private readonly timer: AdmissionTimer;

  constructor(
    private readonly phase: AdmissionPhase,
    private readonly clock: Clock,
    private readonly observer: AdmissionObserver,
  ) {
    this.timer = observer.step(phase);
  }

  add(plugin: AdmissionPlugin, work: Work): void {
    this.links.push({ plugin, work, timer: this.observer.plugin(plugin.name, this.phase) });
  }

  /** Runs a second round if a plugin requires it. */
  async run(request: AdmissionRequest): Promise<void> {
    const { clock, timer } = this;
    const { operation } = request;
    const startMs = clock.monotonicMs();
    const round = new Round();
    let isRejected = true;
    try {
      await this.runRound(request, round);
      if (round.isReinvocationRequired) {
        round.index = 1;
        await this.runRound(request, round);
      }
      isRejected = false;
    } finally {
      timer(operation, isRejected, (clock.monotonicMs() - startMs) / 1_000);
    }
  }

  private async runRound(request: AdmissionRequest, round: MutationRound): Promise<void> {
    const { clock, timer } = this;
    const { operation } = request;
    let sinceMs = clock.monotonicMs();
    let current = timer;
    try {
      for (const link of this.linksOf(request)) {
        current = link.timer;
        const pending = link.work(request, round);
        if (pending) await pending;
        const nowMs = clock.monotonicMs();
        current(operation, false, (nowMs - sinceMs) / 1_000);
        sinceMs = nowMs;
      }
    } catch (error) {
      current(operation, true, (clock.monotonicMs() - sinceMs) / 1_000);
      throw error;
    }
  }

  private linksOf(action: AdmittedAction): readonly Link[] {
    const { served, operation, subresource } = action;
    let byAction = this.selected.get(served);
    if (!byAction) {
      byAction = new Map();
      this.selected.set(served, byAction);
    }
    const key = subresource === '' ? operation : `${operation} ${subresource}`;
    let links = byAction.get(key);
    if (!links) {
      links = this.links.filter(({ plugin }) => plugin.handles?.(action) ?? true);
      byAction.set(key, links);
    }
    return links;
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
      if (plugin.mutate) {
        this.mutating.add(plugin, (request, round) => plugin.mutate?.(request, round));
      }
      if (plugin.validate) this.validating.add(plugin, (request) => plugin.validate?.(request));
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
