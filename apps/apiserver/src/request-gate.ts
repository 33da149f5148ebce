/** What keeps the server from being overrun: priority and fairness, or where that is off two plain limits. */
import {
  FlowControl,
  FlowControlMetrics,
  FollowedConfiguration,
  InFlight,
  type RequestGate,
  type RequestLimits,
  type ResourceTable,
} from '@orch/apiserver';
import {
  type ComponentContext,
  exitCodes,
  FatalError,
  type Metrics,
  systemClock,
} from '@orch/component';
import type { VersionedStore } from '@orch/store';
import type { ApiServerOptions } from './api-server-options.js';

type Context = Pick<
  ComponentContext<ApiServerOptions>,
  'options' | 'features' | 'logger' | 'lifecycle'
>;

interface GateParts {
  readonly store: VersionedStore;
  readonly table: ResourceTable;
  readonly metrics: Metrics;
}

/** The flag means something only where the gate is on. */
export function usesFlowControl({ options, features }: Context): boolean {
  return options.enablePriorityAndFairness && features.enabled('APIPriorityAndFairness');
}

/** The limits of the flags. Throws FatalError where priority and fairness would have nothing to share. */
export function requestLimits(context: Context): RequestLimits {
  const { maxRequestsInflight, maxMutatingRequestsInflight } = context.options;
  const limits = { readOnly: maxRequestsInflight, mutating: maxMutatingRequestsInflight };
  if (usesFlowControl(context) && limits.readOnly + limits.mutating === 0) {
    throw new FatalError(
      exitCodes.usage,
      '--max-requests-inflight and --max-mutating-requests-inflight are both 0; with priority and fairness they must add up to something positive',
    );
  }
  return limits;
}

export function requestGate(
  context: Context,
  limits: RequestLimits,
  { store, table, metrics }: GateParts,
): RequestGate {
  const { options, logger, lifecycle } = context;
  if (!usesFlowControl(context)) return new InFlight(limits);
  const clock = systemClock;
  const gate = new FlowControl({
    limits,
    requestTimeoutMs: options.requestTimeoutMs,
    clock,
    metrics: new FlowControlMetrics(metrics, limits, clock.monotonicMs()),
  });
  const followed = new FollowedConfiguration({
    store,
    table,
    logger,
    configure: (objects) => gate.configure(objects),
  });
  followed.start();
  lifecycle.onStop('flow control', () => followed.stop());
  return gate;
}
