/**
 * Conversion by a webhook: one request converts all objects. The webhook may change everything
 * except the identity of an object: of the metadata, only its labels and annotations are used.
 */
import type { ApiObject, CustomKind } from '@orch/api';
import { isJsonObject, StatusError } from '@orch/apimachinery';
import {
  type Clock,
  dialect,
  exponentialBuckets,
  type Histogram,
  type Metrics,
} from '@orch/component';
import { type Converter, renaming } from '@orch/registry';
import { type WebhookClient, WebhookError } from '@orch/security';
import { conversionResponseBytesMax, conversionTimeoutMs } from '../limits.js';

const reviewVersions: readonly string[] = ['v1', 'v1beta1'];

export interface ConverterDependencies {
  readonly client: WebhookClient;
  readonly clock: Clock;
  readonly newUid: () => string;
  readonly metrics: Metrics;
}

type ConversionLabel = 'crd_name' | 'from_version' | 'to_version' | 'succeeded';

/** Creates the converter of a kind. */
export function converterFactory(
  dependencies: ConverterDependencies,
): (kind: CustomKind) => Converter {
  const durations = dependencies.metrics.histogram<ConversionLabel>({
    name: 'apiserver_crd_webhook_conversion_duration_seconds',
    help: 'Time of a request to a conversion webhook, in seconds',
    labels: ['crd_name', 'from_version', 'to_version', 'succeeded'],
    buckets: exponentialBuckets(0.001, 2, 15),
  });
  return (kind) =>
    kind.conversion.strategy === 'Webhook'
      ? new WebhookConverter(dependencies, kind, durations)
      : renaming;
}

class WebhookConverter implements Converter {
  constructor(
    private readonly dependencies: ConverterDependencies,
    private readonly kind: CustomKind,
    private readonly durations: Histogram<ConversionLabel>,
  ) {}

  async convert(
    objects: readonly ApiObject[],
    apiVersion: string,
    deadlineMs: number,
  ): Promise<readonly ApiObject[]> {
    const [first] = objects;
    if (!first) return objects;
    const { clock } = this.dependencies;
    const startMs = clock.monotonicMs();
    let isConverted = false;
    try {
      const converted = await this.request(first, objects, apiVersion, deadlineMs);
      isConverted = true;
      return converted;
    } finally {
      const series = this.durations.labels({
        crd_name: this.kind.name,
        from_version: versionOf(first.apiVersion),
        to_version: versionOf(apiVersion),
        succeeded: String(isConverted),
      });
      series.observe((clock.monotonicMs() - startMs) / 1_000);
    }
  }

  private async request(
    first: ApiObject,
    objects: readonly ApiObject[],
    apiVersion: string,
    deadlineMs: number,
  ): Promise<readonly ApiObject[]> {
    const { clock, newUid, client } = this.dependencies;
    const { conversion } = this.kind;
    const version = conversion.conversionReviewVersions?.find((version) =>
      reviewVersions.includes(version),
    );
    const who = describe(first);
    if (version === undefined)
      throw failed(who, 'this server supports none of its review versions');
    const uid = newUid();
    const reviewVersion = dialect().apiVersion('apiextensions', version);
    const question = {
      kind: 'ConversionReview',
      apiVersion: reviewVersion,
      request: { uid, desiredAPIVersion: apiVersion, objects: objects.map(withoutVersion) },
    };
    const leftMs = Math.max(1, deadlineMs - clock.monotonicMs());
    try {
      const { text } = await client.call({
        address: conversion.webhookClientConfig ?? {},
        body: JSON.stringify(question),
        timeoutMs: Math.min(leftMs, conversionTimeoutMs),
        responseBytesMax: conversionResponseBytesMax,
        userAgent: dialect().systemName('apiserver'),
      });
      const review = parsedReview(text);
      const converted = convertedObjects(review, reviewVersion, uid);
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

function versionOf(apiVersion = ''): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1);
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

/** Webhooks must not depend on the version. */
function withoutVersion(object: ApiObject): ApiObject {
  const { resourceVersion: _version, ...metadata } = object.metadata ?? {};
  return { ...object, metadata };
}

/** Throws WebhookError. The error of the parser is left out: it contains a part of the response. */
function parsedReview(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new WebhookError("couldn't get version/kind; json parse error: not JSON");
  }
}

/** Throws WebhookError. */
function convertedObjects(review: unknown, reviewVersion: string, uid: string): unknown[] {
  if (!isJsonObject(review)) throw new WebhookError('the response is not a JSON object');
  const { kind, apiVersion, response } = review;
  if (kind !== 'ConversionReview' || apiVersion !== reviewVersion) {
    throw new WebhookError(
      `expected webhook response of ${reviewVersion}, Kind=ConversionReview, got ${apiVersion ?? '/'}, Kind=${kind ?? ''}`,
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

/** With their names in errors. */
const sameMetadata = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const;

/** The converted object, if its identity is unchanged. */
function checked(
  original: ApiObject,
  converted: unknown,
  apiVersion: string,
  index: number,
): ApiObject {
  const invalid = (what: string) =>
    refusal(`conversion webhook for ${describe(original)} returned invalid ${what}`);
  if (!isJsonObject(converted)) throw invalid(`object at index ${index}: not an object`);
  const object: ApiObject = converted;
  if (object.apiVersion !== apiVersion) {
    throw invalid(
      `object at index ${index}: invalid groupVersion (expected ${apiVersion}, received ${object.apiVersion ?? ''})`,
    );
  }
  if (object.kind !== original.kind) {
    throw invalid(
      `object at index ${index}: invalid kind (expected ${original.kind}, received ${object.kind ?? ''})`,
    );
  }
  const { metadata = {} } = original;
  const changed = isJsonObject(converted.metadata) ? (object.metadata ?? {}) : {};
  for (const [field, label] of sameMetadata) {
    const [before, after] = [metadata[field] ?? '', changed[field] ?? ''];
    if (before !== after)
      throw invalid(`object: must have the same ${label}: ${after} != ${before}`);
  }
  const { labels, annotations } = changed;
  for (const [name, map] of Object.entries({ labels, annotations })) {
    if (map === undefined || map === null || isTextMap(map)) continue;
    throw invalid(`metadata: invalid ${name}`);
  }
  const { labels: _labels, annotations: _annotations, ...kept } = metadata;
  return {
    ...object,
    metadata: { ...kept, ...(labels && { labels }), ...(annotations && { annotations }) },
  };
}

function isTextMap(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((text) => typeof text === 'string');
}
