/** The contract between controllers and the manager that runs them. */
import type { ApiClient, EventRecorder, InformerFactory, WorkQueue } from '@orch/client';
import type { Clock, Features, Logger, Metrics } from '@orch/component';
import type { DefinitionWatch } from './definition-watch.js';
import type { ControllersOptions } from './options.js';

export interface ControllerContext {
  /** Requests of this controller alone, with its own rate limit. */
  readonly client: ApiClient;
  /** Shared by all controllers. */
  readonly informers: InformerFactory;
  /** Changes of what the server serves; shared by all controllers. */
  readonly definitions: DefinitionWatch;
  /** PEM certificate authority of the API server; undefined if clients do not verify it. */
  readonly authorityPem: string | undefined;
  /** Returns the recorder whose events have `component` as their source. */
  readonly recorder: (component: string) => EventRecorder;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly features: Features;
  readonly random: () => number;
}

/** A control loop. Built before the informers start; runs after they have synced. */
export interface Controller {
  readonly queues: readonly WorkQueue[];
  /** Runs until `signal` aborts, then completes the reconciliations in flight and returns. */
  run(signal: AbortSignal): Promise<void>;
}

/** Builds a controller; undefined if the configuration disables it. */
export type ControllerFactory = (
  context: ControllerContext,
  options: ControllersOptions,
) => Controller | undefined;

export interface ReconcileResult {
  /** Reconciles the key again after this time, even if nothing changes. */
  readonly requeueAfterMs?: number;
}

/**
 * Reconciles one key. Level-based: does not depend on the change that enqueued the key. If it
 * throws, the key is retried with back-off. `signal` aborts when the controller stops.
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult>;

/** The key needs no further reconciliation until something changes. */
export const done: ReconcileResult = Object.freeze({});
