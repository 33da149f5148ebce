/**
 * Mutating webhooks, one after the other: each sees the changes of the hooks before it. A hook
 * with the reinvocation policy `IfNeeded` is called once more if the object changed after its call.
 */
import type { ApiObject } from '@orch/api';
import {
  applyJsonPatchOperations,
  deepCopy,
  deepEqual,
  internalError,
  type Json,
  type JsonObject,
  JsonPatchError,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { AdmissionPlugin, AdmissionRequest, MutationRound } from '@orch/registry';
import { WebhookError } from '@orch/security';
import type { AdmissionResponse } from '@orch/types/admission/v1';
import { patchOf } from './admission-review.js';
import type { FollowedHooks } from './followed-hooks.js';
import type { HookCaller } from './hook-caller.js';
import type { HookSelectors } from './hook-selectors.js';
import type { Candidate } from './hook-set.js';
import { ReviewedRequest, type ReviewedRequestDependencies } from './reviewed-request.js';

export interface WebhookPluginDependencies extends ReviewedRequestDependencies {
  readonly hooks: FollowedHooks;
  readonly caller: HookCaller;
  readonly selectors: HookSelectors;
}

/** The state of a request over its two rounds. */
interface Reinvocation {
  /** Called hooks that want to see later changes. */
  readonly called: Set<string>;
  /** Those of them after whose call the object changed. */
  readonly due: Set<string>;
  /** After the hooks of the first round. */
  output: ApiObject | undefined;
}

export class MutatingWebhooks implements AdmissionPlugin {
  readonly name = 'MutatingAdmissionWebhook';
  private readonly reinvocations = new WeakMap<MutationRound, Reinvocation>();

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

  mutate(request: AdmissionRequest, round: MutationRound): Promise<void> | void {
    if (request.review === 'none' || request.context.bypassesWebhooks) return;
    const { current } = this.dependencies.hooks;
    if (!current) return this.mutateWhenRead(request, round);
    const { served, subresource, operation } = request;
    const candidates = current.candidates(served, subresource, operation);
    if (candidates.length > 0) return this.callAll(request, round, candidates);
  }

  private async mutateWhenRead(request: AdmissionRequest, round: MutationRound): Promise<void> {
    await this.dependencies.hooks.whenRead(request.context.deadlineMs);
    await this.mutate(request, round);
  }

  private async callAll(
    request: AdmissionRequest,
    round: MutationRound,
    candidates: readonly Candidate[],
  ): Promise<void> {
    const { selectors } = this.dependencies;
    const state = this.reinvocationOf(round);
    const isSecond = round.index === 1;
    if (isSecond && !deepEqual(request.object as Json, (state.output ?? null) as Json)) {
      requireCalled(state);
    }
    const reviewed = new ReviewedRequest(request, this.dependencies);
    for (const candidate of candidates) {
      const { hook } = candidate;
      if (isSecond && !state.due.has(hook.key)) continue;
      if (!(await selectors.select(hook, reviewed))) continue;
      const isMutated = await this.callOne(candidate, reviewed, round);
      if (isMutated) {
        requireCalled(state);
        round.requireReinvocation();
      }
      if (hook.isReinvocable) state.called.add(hook.key);
    }
    if (!isSecond && state.due.size > 0) {
      state.output = deepCopy((request.object ?? null) as Json) as ApiObject;
    }
  }

  private reinvocationOf(round: MutationRound): Reinvocation {
    let state = this.reinvocations.get(round);
    if (!state) {
      state = { called: new Set(), due: new Set(), output: undefined };
      this.reinvocations.set(round, state);
    }
    return state;
  }

  /** Returns whether the hook sent a patch. */
  private async callOne(
    candidate: Candidate,
    reviewed: ReviewedRequest,
    round: MutationRound,
  ): Promise<boolean> {
    let mutated = false;
    const { hook, index } = candidate;
    const { context } = reviewed.request;
    const call = `round_${round.index}_index_${index}`;
    const named = { configuration: hook.configuration, webhook: hook.name };
    try {
      await this.dependencies.caller.call(candidate, reviewed, async (response) => {
        const patch = patchOf(response);
        if (patch.length === 0) return;
        await applyPatch(candidate, reviewed, patch, response);
        mutated = true;
        const applied = JSON.stringify({ ...named, patch, patchType: 'JSONPatch' });
        context.annotateAudit?.(annotationKey('patch', call), applied, 'Request');
      });
    } finally {
      const text = JSON.stringify({ ...named, mutated });
      context.annotateAudit?.(annotationKey('mutation', call), text, 'Metadata');
    }
    return mutated;
  }
}

function requireCalled({ called, due }: Reinvocation): void {
  for (const key of called) due.add(key);
  called.clear();
}

function annotationKey(prefix: string, call: string): string {
  return `${prefix}.webhook.admission.${dialect().groupDomain}/${call}`;
}

/** Throws 500 for a patch that does not apply, whatever the failure policy. */
async function applyPatch(
  { hook, target }: Candidate,
  reviewed: ReviewedRequest,
  patch: readonly JsonObject[],
  { patchType = 'JSONPatch' }: AdmissionResponse,
): Promise<void> {
  const document = await reviewed.documentIn(target);
  if (!document) {
    throw internalError(
      `admission webhook ${JSON.stringify(hook.name)} attempted to modify the object, which is not supported for this operation`,
    );
  }
  if (patchType !== 'JSONPatch' && hook.reviewVersion === 'v1') {
    throw new WebhookError(`unsupported patch type ${JSON.stringify(patchType)}`);
  }
  let changed: Json;
  try {
    changed = applyJsonPatchOperations(document, patch as JsonObject[]);
  } catch (error) {
    throw error instanceof JsonPatchError ? internalError(error.message) : error;
  }
  await reviewed.accept(changed as JsonObject, target);
}
