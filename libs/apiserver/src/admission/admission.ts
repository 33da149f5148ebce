/**
 * The chain of admission: plugins in a fixed order that may change an object before it is validated
 * and refuse a request afterwards. A request that only reads never comes here.
 */
import type { ApiObject, RequestContext } from '@orch/api';
import type { Clock } from '@orch/component';
import { type Operation, StoreError } from '@orch/store';
import type { ServedResource } from '../registry/resource.js';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE';
export type AdmissionPhase = 'admit' | 'validate';

export interface AdmissionRequest {
  readonly operation: AdmissionOperation;
  readonly served: ServedResource;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** In the stored shape; undefined for a delete. */
  readonly object: ApiObject | undefined;
  readonly old: ApiObject | undefined;
  readonly context: RequestContext;
  /** On the monotonic clock. */
  readonly deadlineMs: number;
}

export interface AdmissionPlugin {
  readonly name: string;
  /** May change `request.object`. Throws StatusError to refuse. */
  mutate?(request: AdmissionRequest): Promise<void> | void;
  /** Throws StatusError to refuse. */
  validate?(request: AdmissionRequest): Promise<void> | void;
  /**
   * What must still hold in the moment of the commit of a creation: another server may have changed what
   * was looked at. Asked again, and may refuse, when it no longer held.
   */
  expectations?(request: AdmissionRequest): Promise<Operation[]>;
  /**
   * Takes, right before the commit, what the object needs of something that it shares with others. Throws
   * StatusError to refuse; undefined: nothing was taken.
   */
  reserve?(request: AdmissionRequest): Promise<Reservation | undefined>;
}

export interface Reservation {
  /** Gives back: the object was not stored. */
  cancel(): Promise<void>;
}

/** Told of each outcome; must be quick. */
export type AdmissionTimer = (
  operation: AdmissionOperation,
  isRejected: boolean,
  seconds: number,
) => void;

/** Gives the timers of each plugin and of each phase as a whole. */
export interface AdmissionObserver {
  plugin(name: string, phase: AdmissionPhase): AdmissionTimer;
  step(phase: AdmissionPhase): AdmissionTimer;
}

type Work = (request: AdmissionRequest) => Promise<void> | void;

/** The plugins that have something to do in one phase. */
class Phase {
  private readonly links: { readonly work: Work; readonly timer: AdmissionTimer }[] = [];
  private readonly timer: AdmissionTimer;

  constructor(
    private readonly phase: AdmissionPhase,
    private readonly clock: Clock,
    private readonly observer: AdmissionObserver,
  ) {
    this.timer = observer.step(phase);
  }

  add(name: string, work: Work): void {
    this.links.push({ work, timer: this.observer.plugin(name, this.phase) });
  }

  async run(request: AdmissionRequest): Promise<void> {
    const { clock, links, timer } = this;
    const { operation } = request;
    const startMs = clock.monotonicMs();
    let sinceMs = startMs;
    let current = timer;
    let isRejected = true;
    try {
      for (const link of links) {
        current = link.timer;
        const pending = link.work(request);
        if (pending) await pending;
        const nowMs = clock.monotonicMs();
        current(operation, false, (nowMs - sinceMs) / 1_000);
        sinceMs = nowMs;
      }
      isRejected = false;
    } catch (error) {
      current(operation, true, (clock.monotonicMs() - sinceMs) / 1_000);
      throw error;
    } finally {
      timer(operation, isRejected, (clock.monotonicMs() - startMs) / 1_000);
    }
  }
}

export class Admission {
  private readonly mutating: Phase;
  private readonly validating: Phase;
  /** Most have nothing to do at the commit. */
  private readonly expecting: readonly AdmissionPlugin[];
  private readonly reservers: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[], clock: Clock, observer: AdmissionObserver) {
    this.expecting = plugins.filter((plugin) => plugin.expectations);
    this.reservers = plugins.filter((plugin) => plugin.reserve);
    this.mutating = new Phase('admit', clock, observer);
    this.validating = new Phase('validate', clock, observer);
    for (const plugin of plugins) {
      const { name } = plugin;
      if (plugin.mutate) this.mutating.add(name, (request) => plugin.mutate?.(request));
      if (plugin.validate) this.validating.add(name, (request) => plugin.validate?.(request));
    }
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

  /** Commits the object with what it needs reserved; given back when it is certain that it is not stored. */
  async reserving<T>(
    request: AdmissionRequest,
    commit: () => Promise<T>,
    isStored: (result: T) => boolean,
  ): Promise<T> {
    const reservations: Reservation[] = [];
    let isKept = false;
    try {
      for (const plugin of this.reservers) {
        const reservation = await plugin.reserve?.(request);
        if (reservation) reservations.push(reservation);
      }
      const result = await commit();
      isKept = isStored(result);
      return result;
    } catch (error) {
      isKept = error instanceof StoreError && error.code === 'OutcomeUnknown';
      throw error;
    } finally {
      if (!isKept) for (const reservation of reservations) await reservation.cancel();
    }
  }
}
