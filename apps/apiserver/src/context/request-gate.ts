/** Overload protection: priority and fairness or, if it is disabled, two fixed limits. */
import type { OnModuleInit } from '@nestjs/common';
import {
  FlowControl,
  FlowControlMetrics,
  FollowedConfiguration,
  InFlight,
  type RequestGate,
  type RequestLimits,
} from '@orch/apiserver';
import { exitCodes, FatalError, type Metrics, systemClock } from '@orch/component';
import type { ResourceTable } from '@orch/registry';
import type { StoreReader } from '@orch/store';
import type { ProcessContext } from './process-context.js';

export interface ServerGateDependencies {
  readonly context: ProcessContext;
  readonly limits: RequestLimits;
  readonly store: StoreReader;
  readonly table: ResourceTable;
  readonly metrics: Metrics;
}

/** The gate of all requests. */
export class ServerGate implements OnModuleInit {
  readonly gate: RequestGate;
  /** Undefined if priority and fairness is disabled. */
  readonly flowControl: FlowControl | undefined;
  private followed: FollowedConfiguration | undefined;

  constructor(private readonly dependencies: ServerGateDependencies) {
    const { context, limits, metrics } = dependencies;
    if (usesFlowControl(context)) {
      this.flowControl = new FlowControl({
        limits,
        requestTimeoutMs: context.options.requestTimeoutMs,
        clock: systemClock,
        metrics: new FlowControlMetrics(metrics, limits, systemClock.monotonicMs()),
      });
    }
    this.gate = this.flowControl ?? new InFlight(limits);
  }

  onModuleInit(): void {
    const { flowControl } = this;
    if (!flowControl) return;
    const { context, store, table } = this.dependencies;
    const { logger, lifecycle } = context;
    this.followed = new FollowedConfiguration({
      store,
      table,
      logger,
      configure: (objects) => flowControl.configure(objects),
    });
    this.followed.start();
    lifecycle.onStop('flow control', () => this.followed?.stop());
  }

  /** Whether the stored schemas and priority levels apply. */
  get isConfigured(): boolean {
    return this.followed?.isSynced ?? false;
  }
}

/** The flag has an effect only if the feature gate is on. */
function usesFlowControl({ options, features }: ProcessContext): boolean {
  return options.enablePriorityAndFairness && features.enabled('APIPriorityAndFairness');
}

/** Returns the limits of the flags. Throws FatalError if priority levels would share no seats. */
export function requestLimits(context: ProcessContext): RequestLimits {
  const { maxRequestsInflight, maxMutatingRequestsInflight } = context.options;
  const limits = { readOnly: maxRequestsInflight, mutating: maxMutatingRequestsInflight };
  if (usesFlowControl(context) && limits.readOnly + limits.mutating === 0) {
    throw new FatalError(
      exitCodes.usage,
      '--max-requests-inflight and --max-mutating-requests-inflight are both 0; with priority and fairness their sum must be positive',
    );
  }
  return limits;
}
