/**
 * Requests a review of the images of a pod from a webhook. Responses are cached by images,
 * namespace and the annotations for the webhook. Ephemeral containers are reviewed like the others.
 */
import { createHash } from 'node:crypto';
import { codecFor, SchemaError } from '@orch/apimachinery';
import { type Clock, dialect, type Logger } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import type { ImageReview, ImageReviewSpec } from '@orch/types/imagepolicy/v1alpha1';
import { LRUCache } from 'lru-cache';
import { rulePluginWith } from '../../kind-rules.js';
import { imageReviewsMax } from '../../limits.js';
import { type PluginDeclaration, type PluginDependencies, unavailable } from '../../plugin.js';
import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionTarget,
  forbiddenTarget,
} from '../../rule.js';
import { type ImagePolicyOptions, readImagePolicy } from './configuration.js';
import { ImageReviewClient, ImageReviewError } from './image-review-client.js';

const identity = { name: 'ImagePolicyWebhook', isDefault: false };
const reviewType = 'imagepolicy/v1alpha1.ImageReview';
const ephemeral = 'ephemeralcontainers';

interface Outcome {
  readonly allowed: boolean;
  readonly reason: string;
}

type Dependencies = Pick<PluginDependencies, 'clock' | 'random' | 'logger'>;

export const imagePolicyWebhook: PluginDeclaration = {
  ...unavailable(identity.name, 'it needs a configuration in --admission-control-config-file'),
  configured(document) {
    const options = readImagePolicy(document);
    return rulePluginWith(identity, (dependencies) => imagePolicyRule(options, dependencies));
  },
};

export function imagePolicyRule(
  options: ImagePolicyOptions,
  dependencies: Dependencies,
): AdmissionRule {
  const policy = new ImagePolicy(options, dependencies);
  return {
    ...identity,
    kinds: ['core/pods'],
    operations: ['CREATE', 'UPDATE'],
    validate: (target, context) => policy.check(target, context),
  };
}

class ImagePolicy {
  private readonly client: ImageReviewClient;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly outcomes: LRUCache<string, { outcome: Outcome; expiresMs: number }>;

  constructor(
    private readonly options: ImagePolicyOptions,
    { clock, random, logger }: Dependencies,
  ) {
    const { connection, retryBackoffMs } = options;
    this.client = new ImageReviewClient({ connection, retryBackoffMs, random });
    this.clock = clock;
    this.logger = logger;
    this.outcomes = new LRUCache({ max: imageReviewsMax });
  }

  async check(target: AdmissionTarget, context: AdmissionContext): Promise<void> {
    if (target.subresource !== '' && target.subresource !== ephemeral) return;
    const pod = target.object as Pod;
    const { allowed, reason } = await this.outcome(target, pod, context);
    if (allowed) return;
    throw forbiddenTarget(
      target,
      reason === ''
        ? 'one or more images rejected by webhook backend'
        : `image policy webhook backend denied one or more images: ${reason}`,
    );
  }

  private async outcome(
    target: AdmissionTarget,
    pod: Pod,
    { deadlineMs }: AdmissionContext,
  ): Promise<Outcome> {
    const spec = specOf(pod, target);
    const key = createHash('sha256').update(JSON.stringify(spec)).digest('base64');
    const cached = this.outcomes.get(key);
    if (cached && cached.expiresMs > this.clock.monotonicMs()) return cached.outcome;
    try {
      const outcome = await this.review(spec, deadlineMs);
      const { allowTtlMs, denyTtlMs } = this.options;
      const ttlMs = outcome.allowed ? allowTtlMs : denyTtlMs;
      if (ttlMs > 0) {
        this.outcomes.set(key, { outcome, expiresMs: this.clock.monotonicMs() + ttlMs });
      }
      return outcome;
    } catch (error) {
      if (!(error instanceof ImageReviewError)) throw error;
      this.logger.warn({ err: error }, 'the image policy webhook failed');
      if (!this.options.defaultAllow) throw forbiddenTarget(target, error.message);
      markUnreviewed(pod);
      return { allowed: true, reason: '' };
    }
  }

  private async review(spec: ImageReviewSpec, deadlineMs: number): Promise<Outcome> {
    const review = {
      apiVersion: dialect().apiVersion('imagepolicy', 'v1alpha1'),
      kind: 'ImageReview',
      metadata: {},
      spec,
    };
    const timeoutMs = Math.max(1, deadlineMs - this.clock.monotonicMs());
    const response = await this.client.review(review, timeoutMs);
    try {
      const { status } = codecFor<ImageReview>(reviewType).fromJson(response);
      return { allowed: status?.allowed === true, reason: status?.reason ?? '' };
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error;
      throw new ImageReviewError('image policy webhook: the response is not an ImageReview', false);
    }
  }
}

/** With the annotations for the webhook only. */
function specOf({ spec, metadata }: Pod, { namespace, subresource }: AdmissionTarget) {
  const containers =
    subresource === ephemeral
      ? (spec?.ephemeralContainers ?? [])
      : [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const domain = `.${dialect().key('', 'image-policy')}`;
  const annotations = Object.entries(metadata?.annotations ?? {}).filter(([key]) =>
    key.includes(domain),
  );
  return {
    containers: containers.map(({ image }) => ({ image })),
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
    namespace,
  } satisfies ImageReviewSpec;
}

function markUnreviewed(pod: Pod): void {
  pod.metadata ??= {};
  const key = dialect().key('failed-open', 'alpha.image-policy');
  pod.metadata.annotations = { ...pod.metadata.annotations, [key]: 'true' };
}
