/**
 * An active flow schema with its priority level and its flows. The hand of queues of a flow is
 * cached. An active schema lives until schemas or levels change.
 */
import type { FlowSchema } from '@orch/types/flowcontrol.apiserver/v1beta1';
import type { GateRequest } from '../http/request-gate.js';
import { flowsMax } from '../limits.js';
import type { FlowSeries } from '../observability/flow-control-metrics.js';
import { nameOf } from './configuration.js';
import { type FlowRule, flowRules } from './flow-rules.js';
import type { PriorityLevel } from './priority-level.js';
import { dealHand, flowHash } from './shuffle-sharding.js';

export interface Flow {
  readonly distinguisher: string;
  /** Indexes of queues. */
  readonly hand: readonly number[];
}

export class ActiveSchema<Request> {
  readonly name: string;
  readonly uid: string;
  readonly rules: readonly FlowRule[];
  private readonly distinguishes: string | undefined;
  private readonly flows = new Map<string, Flow>();

  constructor(
    schema: FlowSchema,
    readonly level: PriorityLevel<Request>,
    readonly series: FlowSeries,
  ) {
    this.name = nameOf(schema);
    this.uid = schema.metadata?.uid ?? '';
    this.rules = flowRules(schema);
    this.distinguishes = schema.spec?.distinguisherMethod?.type;
  }

  flowOf({ user, info }: GateRequest): Flow {
    if (this.distinguishes === 'ByUser') return this.flow(user.name);
    return this.flow(this.distinguishes === 'ByNamespace' ? info.namespace : '');
  }

  private flow(distinguisher: string): Flow {
    let flow = this.flows.get(distinguisher);
    if (!flow) {
      flow = { distinguisher, hand: this.handOf(distinguisher) };
      if (this.flows.size >= flowsMax) this.flows.clear();
      this.flows.set(distinguisher, flow);
    }
    return flow;
  }

  private handOf(distinguisher: string): number[] {
    const { queueCount, handSize } = this.level.queuing;
    if (queueCount <= 1) return [0];
    return dealHand(flowHash(this.name, distinguisher), queueCount, handSize);
  }
}
