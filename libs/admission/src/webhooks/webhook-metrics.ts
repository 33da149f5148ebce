/** Metrics of the calls to admission webhooks. */
import type { Metrics } from '@orch/component';
import type { AdmissionOperation } from '@orch/registry';

/** The phase, as the label `type` names it. */
export type HookType = 'admit' | 'validating';

export type RejectionCause = 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error';

export interface CallOutcome {
  readonly hook: string;
  readonly operation: AdmissionOperation;
  readonly isRejected: boolean;
  readonly seconds: number;
}

export interface Rejection extends Pick<CallOutcome, 'hook' | 'operation'> {
  readonly cause: RejectionCause;
  /** The status code of the webhook's response; 0 if it did not reject. */
  readonly code: number;
}

/** Higher codes are one series, because webhooks may respond with any. */
const codeMax = 600;

export class WebhookMetrics {
  private readonly durations;
  private readonly rejections;

  constructor(
    metrics: Metrics,
    private readonly type: HookType,
  ) {
    this.durations = metrics.histogram({
      name: 'apiserver_admission_webhook_admission_duration_seconds',
      help: 'Time of one admission webhook, in seconds.',
      labels: ['name', 'operation', 'rejected', 'type'],
      buckets: [0.005, 0.025, 0.1, 0.5, 2.5],
    });
    this.rejections = metrics.counter({
      name: 'apiserver_admission_webhook_rejection_count',
      help: 'Requests that an admission webhook, or a failed call to one, rejected.',
      labels: ['error_type', 'name', 'operation', 'rejection_code', 'type'],
    });
  }

  called({ hook, operation, isRejected, seconds }: CallOutcome): void {
    const rejected = isRejected ? 'true' : 'false';
    this.durations.labels({ name: hook, operation, rejected, type: this.type }).observe(seconds);
  }

  rejected({ hook, operation, cause, code }: Rejection): void {
    this.rejections
      .labels({
        error_type: cause,
        name: hook,
        operation,
        rejection_code: String(Math.min(code, codeMax)),
        type: this.type,
      })
      .inc();
  }
}
