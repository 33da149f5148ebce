/** Calls one hook about one request, and applies the failure policy of the hook. */
import { badRequest, internalError, timeout } from '@orch/apimachinery';
import { type Clock, dialect, type Logger, type UserCredentials } from '@orch/component';
import { type WebhookAddress, type WebhookClient, WebhookError } from '@orch/security';
import type { AdmissionResponse } from '@orch/types/admission/v1';
import { hookResponseBytesMax } from '../limits.js';
import { isDryRun, parseResponse, reviewText } from './admission-review.js';
import { WebhookDenial } from './denial.js';
import type { Candidate } from './hook-set.js';
import type { ReviewedRequest } from './reviewed-request.js';
import type { RejectionCause, WebhookMetrics } from './webhook-metrics.js';

export interface HookCallerDependencies {
  readonly client: Pick<WebhookClient, 'call'>;
  /** The credentials of this server for a webhook. */
  readonly credentialsFor: (address: WebhookAddress) => UserCredentials | undefined;
  readonly metrics: WebhookMetrics;
  readonly clock: Clock;
  readonly newUid: () => string;
  readonly logger: Logger;
  readonly isMutating: boolean;
}

export class HookCaller {
  constructor(private readonly dependencies: HookCallerDependencies) {}

  /**
   * Calls the hook, and passes its response to `use` if it allows the request. Does nothing if the
   * call fails and the hook ignores failures. Throws StatusError to reject the request.
   */
  async call(
    candidate: Candidate,
    reviewed: ReviewedRequest,
    use: (response: AdmissionResponse) => Promise<void> | void,
  ): Promise<void> {
    const { clock, metrics } = this.dependencies;
    const { operation } = reviewed.request;
    const hook = candidate.hook.name;
    const startMs = clock.monotonicMs();
    let isRejected = false;
    try {
      await use(await this.allowing(candidate, reviewed));
    } catch (error) {
      isRejected = this.rejects(candidate, error);
      if (isRejected) metrics.rejected({ hook, operation, ...causeOf(error) });
      this.conclude(candidate, reviewed, error);
    } finally {
      const seconds = (clock.monotonicMs() - startMs) / 1_000;
      metrics.called({ hook, operation, isRejected, seconds });
    }
  }

  /** Throws WebhookError if the call fails, StatusError if the request is rejected. */
  private async allowing(
    candidate: Candidate,
    reviewed: ReviewedRequest,
  ): Promise<AdmissionResponse> {
    const { client, credentialsFor, clock, newUid, isMutating } = this.dependencies;
    const { hook } = candidate;
    const { request } = reviewed;
    const { context } = request;
    if (isDryRun(request) && !hook.supportsDryRun) {
      throw badRequest(`admission webhook ${JSON.stringify(hook.name)} does not support dry run`);
    }
    const { reviewVersion: version } = hook;
    if (!version)
      throw new WebhookError(
        'webhook does not accept known AdmissionReview versions (v1, v1beta1)',
      );
    const leftMs = context.deadlineMs - clock.monotonicMs();
    if (leftMs <= 0) throw timeout('request did not complete within requested timeout');
    const uid = newUid();
    const credentials = credentialsFor(hook.address);
    const received = await client.call({
      address: hook.address,
      body: await reviewText(reviewed, candidate, version, uid),
      timeoutMs: Math.min(hook.timeoutMs, leftMs),
      responseBytesMax: hookResponseBytesMax,
      userAgent: `${dialect().systemName('apiserver')}-admission`,
      ...(credentials && { credentials }),
    });
    const response = parseResponse(received, { version, uid, isMutating });
    for (const [key, value] of Object.entries(response.auditAnnotations ?? {})) {
      context.annotateAudit?.(`${hook.name}/${key}`, value, 'Metadata');
    }
    context.warnings.push(...(response.warnings ?? []));
    if (!response.allowed) throw new WebhookDenial(hook.name, response);
    return response;
  }

  private rejects({ hook }: Candidate, error: unknown): boolean {
    return !(error instanceof WebhookError && hook.ignoresFailures);
  }

  /** Throws unless the failure is ignored. */
  private conclude({ hook }: Candidate, { request }: ReviewedRequest, error: unknown): void {
    if (!(error instanceof WebhookError)) throw error;
    const { logger, clock } = this.dependencies;
    const { name: webhook, ignoresFailures } = hook;
    logger.warn({ err: error, webhook, ignored: ignoresFailures }, 'an admission webhook failed');
    if (!ignoresFailures) {
      throw internalError(`failed calling webhook ${JSON.stringify(webhook)}: ${error.message}`);
    }
    if (clock.monotonicMs() >= request.context.deadlineMs) {
      throw timeout('request did not complete within requested timeout');
    }
  }
}

function causeOf(error: unknown): { cause: RejectionCause; code: number } {
  if (error instanceof WebhookError) return { cause: 'calling_webhook_error', code: 0 };
  if (error instanceof WebhookDenial) return { cause: 'no_error', code: error.code };
  return { cause: 'apiserver_internal_error', code: 0 };
}
