/**
 * Conversion by a webhook: it is asked for all objects at once and may change everything of them but what
 * they are and whose: of the metadata only labels and annotations are taken.
 */
import type { ApiObject, CustomKind } from '@orch/api';
import { isJsonObject, StatusError } from '@orch/apimachinery';
import { type Clock, dialect } from '@orch/component';
import { conversionTimeoutMs } from '../limits.js';
import { type WebhookClient, WebhookError } from '../webhooks/webhook-client.js';
import { type Converter, renaming } from './converter.js';

const reviewVersions: readonly string[] = ['v1', 'v1beta1'];

export interface ConversionParts {
  readonly client: WebhookClient;
  readonly clock: Clock;
  readonly newUid: () => string;
}

/** How the objects of a kind are converted. */
export function converterFor(parts: ConversionParts): (kind: CustomKind) => Converter {
  return (kind) =>
    kind.conversion.strategy === 'Webhook' ? new WebhookConverter(parts, kind) : renaming;
}

class WebhookConverter implements Converter {
  constructor(
    private readonly parts: ConversionParts,
    private readonly kind: CustomKind,
  ) {}

  async convert(
    objects: readonly ApiObject[],
    apiVersion: string,
    deadlineMs: number,
  ): Promise<readonly ApiObject[]> {
    const [first] = objects;
    if (!first) return objects;
    const { clock, newUid, client } = this.parts;
    const { conversion } = this.kind;
    const version = conversion.conversionReviewVersions?.find((one) =>
      reviewVersions.includes(one),
    );
    const who = describe(first);
    if (version === undefined) throw failed(who, 'no review version of it is known here');
    const uid = newUid();
    const reviewVersion = dialect().apiVersion('apiextensions', version);
    const question = {
      kind: 'ConversionReview',
      apiVersion: reviewVersion,
      request: { uid, desiredAPIVersion: apiVersion, objects },
    };
    const leftMs = Math.max(1, deadlineMs - clock.monotonicMs());
    try {
      const answer = await client.ask(
        conversion.webhookClientConfig ?? {},
        question,
        Math.min(leftMs, conversionTimeoutMs),
      );
      const converted = convertedObjects(answer, reviewVersion, uid);
      if (converted.length !== objects.length) {
        throw refusal(
          `conversion webhook for ${who} returned ${converted.length} objects, expected ${objects.length}`,
        );
      }
      return converted.map((object, index) => checked(objects[index]!, object, apiVersion, index));
    } catch (error) {
      if (error instanceof WebhookError) throw failed(who, error.message);
      throw error;
    }
  }
}

function describe({ apiVersion = '', kind = '' }: ApiObject): string {
  return `${apiVersion}, Kind=${kind}`;
}

function refusal(message: string): StatusError {
  return new StatusError({ code: 500, message });
}

function failed(who: string, why: string): StatusError {
  return refusal(`conversion webhook for ${who} failed: ${why}`);
}

/** Throws WebhookError. */
function convertedObjects(answer: unknown, reviewVersion: string, uid: string): unknown[] {
  if (!isJsonObject(answer)) throw new WebhookError('the answer is no object');
  const { kind, apiVersion, response } = answer;
  if (kind !== 'ConversionReview' || apiVersion !== reviewVersion) {
    throw new WebhookError(
      `expected webhook response of ${reviewVersion}, Kind=ConversionReview, got ${apiVersion}, Kind=${kind}`,
    );
  }
  if (!isJsonObject(response)) throw new WebhookError('no response provided');
  if (response.uid !== uid) {
    throw new WebhookError(
      `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`,
    );
  }
  const { status, message } = isJsonObject(response.result) ? response.result : {};
  if (status !== 'Success') {
    if (typeof message === 'string' && message !== '') throw new WebhookError(message);
    throw new WebhookError(`response.result.status was '${status ?? ''}', not 'Success'`);
  }
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : [];
}

const sameMetadata = ['name', 'namespace', 'uid'] as const;

/** The converted object, if it is what was asked for. */
function checked(
  original: ApiObject,
  converted: unknown,
  apiVersion: string,
  index: number,
): ApiObject {
  const invalid = (what: string) =>
    refusal(
      `conversion webhook for ${describe(original)} returned invalid converted object at index ${index}: ${what}`,
    );
  if (!isJsonObject(converted)) throw invalid('not an object');
  const object = converted as ApiObject;
  if (object.apiVersion !== apiVersion) {
    throw invalid(
      `invalid groupVersion (expected ${apiVersion}, received ${object.apiVersion ?? ''})`,
    );
  }
  if (object.kind !== original.kind) {
    throw invalid(`invalid kind (expected ${original.kind}, received ${object.kind ?? ''})`);
  }
  const { metadata = {} } = original;
  const changed = isJsonObject(converted.metadata) ? (object.metadata ?? {}) : {};
  for (const field of sameMetadata) {
    if ((changed[field] ?? '') !== (metadata[field] ?? '')) {
      throw invalid(
        `must have the same ${field}: ${changed[field] ?? ''} != ${metadata[field] ?? ''}`,
      );
    }
  }
  const { labels, annotations } = changed;
  for (const [name, map] of Object.entries({ labels, annotations })) {
    if (map !== undefined && map !== null && !isTextMap(map)) throw invalid(`invalid ${name}`);
  }
  const { labels: _labels, annotations: _annotations, ...kept } = metadata;
  return {
    ...object,
    metadata: { ...kept, ...(labels && { labels }), ...(annotations && { annotations }) },
  };
}

function isTextMap(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((one) => typeof one === 'string');
}
