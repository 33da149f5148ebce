/**
 * The gate of a server without priority and fairness: reading and mutating requests are counted
 * separately, and rejected immediately above a maximum. Privileged users are always admitted, so
 * that operators reach an overloaded server.
 */
import { privilegedGroup } from '@orch/security';
import {
  type GateRequest,
  type RequestGate,
  type RequestKind,
  type RequestLimits,
  requestKind,
  type Seat,
} from '../http/request-gate.js';

export class InFlight implements RequestGate {
  private readonly counts: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };
  private readonly seats: Readonly<Record<RequestKind, Seat>> = {
    readOnly: { release: () => this.release('readOnly') },
    mutating: { release: () => this.release('mutating') },
  };

  /** 0: no limit. */
  constructor(private readonly limits: RequestLimits) {}

  executingCount(kind: RequestKind): number {
    return this.counts[kind];
  }

  /** No request waits. */
  waitingCount(): number {
    return 0;
  }

  enter({ info, user }: GateRequest): Seat | undefined {
    const kind = requestKind(info.verb);
    const limit = this.limits[kind];
    const isFull = limit > 0 && this.counts[kind] >= limit;
    if (isFull) return user.groups.includes(privilegedGroup) ? uncounted : undefined;
    this.counts[kind] += 1;
    return this.seats[kind];
  }

  private release(kind: RequestKind): void {
    this.counts[kind] -= 1;
  }
}

const uncounted: Seat = { release: () => undefined };
