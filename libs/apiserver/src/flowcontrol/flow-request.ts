/** One request in flow control: its schema, and its seat while it executes. */
import type { GateRequest, RequestKind, Seat } from '../http/request-gate.js';
import { requestKind } from '../http/request-gate.js';
import type { ActiveSchema, Flow } from './active-schema.js';
import type { Ticket } from './queue-set.js';

/** Notified when a request has finished. */
export interface FlowRequestOwner {
  ended(request: FlowRequest): void;
}

export class FlowRequest implements Seat {
  readonly kind: RequestKind;
  /** Undefined: the level is unlimited. */
  ticket: Ticket<FlowRequest> | undefined;
  flow: Flow | undefined;
  startMs = 0;
  /** Resolves the wait of a queued request with whether it executes. */
  decide: ((isExecuted: boolean) => void) | undefined;

  constructor(
    private readonly owner: FlowRequestOwner,
    readonly request: GateRequest,
    readonly schema: ActiveSchema<FlowRequest>,
    /** On the monotonic clock. */
    readonly arrivalMs: number,
  ) {
    this.kind = requestKind(request.info.verb);
  }

  release(): void {
    this.owner.ended(this);
  }
}
