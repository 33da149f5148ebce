/**
 * Validating webhooks, all at the same time: each sees the object as it will be stored. The request
 * waits for all of them; of several rejections, the first counts.
 */
import type { AdmissionPlugin, AdmissionRequest } from '@orch/registry';
import type { Candidate } from './hook-set.js';
import type { WebhookPluginDependencies } from './mutating-webhooks.js';
import { ReviewedRequest } from './reviewed-request.js';

export class ValidatingWebhooks implements AdmissionPlugin {
  readonly name = 'ValidatingAdmissionWebhook';

  constructor(private readonly dependencies: WebhookPluginDependencies) {}

  start(): void {
    this.dependencies.hooks.start();
  }

  isSynced(): boolean {
    return this.dependencies.hooks.current !== undefined;
  }

  stop(): void {
    this.dependencies.hooks.stop();
  }

  validate(request: AdmissionRequest): Promise<void> | void {
    if (request.review === 'none' || request.context.bypassesWebhooks) return;
    const { current } = this.dependencies.hooks;
    if (!current) return this.validateWhenRead(request);
    const { served, subresource, operation } = request;
    const candidates = current.candidates(served, subresource, operation);
    if (candidates.length > 0) return this.callAll(request, candidates);
  }

  private async validateWhenRead(request: AdmissionRequest): Promise<void> {
    await this.dependencies.hooks.whenRead(request.context.deadlineMs);
    await this.validate(request);
  }

  private async callAll(
    request: AdmissionRequest,
    candidates: readonly Candidate[],
  ): Promise<void> {
    const { selectors, caller } = this.dependencies;
    const reviewed = new ReviewedRequest(request, this.dependencies);
    const selected: Candidate[] = [];
    for (const candidate of candidates) {
      if (await selectors.select(candidate.hook, reviewed)) selected.push(candidate);
    }
    // Converted before any call, so that a failed conversion calls no hook.
    for (const { target } of selected) await reviewed.objectsIn(target);
    const rejections: unknown[] = [];
    await Promise.all(
      selected.map((candidate) =>
        caller
          .call(candidate, reviewed, () => undefined)
          .catch((error: unknown) => rejections.push(error)),
      ),
    );
    if (rejections.length > 0) throw rejections[0];
  }
}
