/**
 * The gate of a server without priority and fairness: those requests that read and those that write are
 * counted apart, and above a maximum they are turned away at once. Whoever may do everything always gets
 * in, so that an overloaded server can be looked after.
 */
import { privilegedGroup } from '../authentication/user.js';
import {
  type GateRequest,
  type Place,
  type RequestGate,
  type RequestKind,
  type RequestLimits,
  requestKind,
} from './request-gate.js';

export class InFlight implements RequestGate {
  private readonly counts: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };
  private readonly places: Readonly<Record<RequestKind, Place>> = {
    readOnly: { leave: () => this.leave('readOnly') },
    mutating: { leave: () => this.leave('mutating') },
  };

  /** 0: no limit. */
  constructor(private readonly limits: RequestLimits) {}

  executingCount(kind: RequestKind): number {
    return this.counts[kind];
  }

  /** Nobody waits. */
  waitingCount(): number {
    return 0;
  }

  enter({ info, user }: GateRequest): Place | undefined {
    const kind = requestKind(info.verb);
    const limit = this.limits[kind];
    const isFull = limit > 0 && this.counts[kind] >= limit;
    if (isFull) return user.groups.includes(privilegedGroup) ? uncounted : undefined;
    this.counts[kind] += 1;
    return this.places[kind];
  }

  private leave(kind: RequestKind): void {
    this.counts[kind] -= 1;
  }
}

const uncounted: Place = { leave: () => undefined };
