/** One request in flow control: where it belongs, and its place while it executes. */
import type { GateRequest, Place, RequestKind } from '../server/request-gate.js';
import { requestKind } from '../server/request-gate.js';
import type { ActiveSchema, Flow } from './active-schema.js';
import type { Ticket } from './queue-set.js';

/** Told when a request has been answered. */
export interface FlowRequestOwner {
  ended(request: FlowRequest): void;
}

export class FlowRequest implements Place {
  readonly kind: RequestKind;
  /** Undefined where nothing is limited. */
  ticket: Ticket<FlowRequest> | undefined;
  flow: Flow | undefined;
  startMs = 0;
  /** Of a request that waits: whether it may go on. */
  decide: ((isExecuted: boolean) => void) | undefined;

  constructor(
    private readonly owner: FlowRequestOwner,
    readonly asked: GateRequest,
    readonly schema: ActiveSchema,
  ) {
    this.kind = requestKind(asked.info.verb);
  }

  get arrivalMs(): number {
    return this.asked.arrivalMs;
  }

  leave(): void {
    this.owner.ended(this);
  }
}
