/**
 * Reviews by a webhook: the request is a review with a spec, the response the same review with a
 * status. Nothing in a response is believed before its type is checked.
 */
import { isJsonObject, type JsonObject, quote } from '@orch/apimachinery';

export const reviewVersions = ['v1', 'v1beta1'] as const;
export type ReviewVersion = (typeof reviewVersions)[number];

/**
 * Sends a review to the webhook and returns its response, parsed as JSON. Rejects with ReviewError,
 * also when the webhook does not respond in time.
 */
export type PostReview = (review: object) => Promise<unknown>;

/** The webhook failed; the message says why and may be shown to clients. */
export class ReviewError extends Error {
  override readonly name = 'ReviewError';
}

/** The review with this spec, as the API encodes it. */
export function reviewOf(apiVersion: string, kind: string, spec: object): object {
  return { kind, apiVersion, metadata: { creationTimestamp: null }, spec };
}

/** Returns the status of a response; empty if it has none. Throws ReviewError. */
export function statusOfReview(response: unknown, apiVersion: string, kind: string): JsonObject {
  if (!isJsonObject(response)) {
    throw new ReviewError("couldn't get version/kind; json parse error: not an object");
  }
  const { apiVersion: sentVersion = apiVersion, kind: sentKind = kind, status = {} } = response;
  if (sentKind !== kind || sentVersion !== apiVersion) {
    const [wrongKind, wrongVersion] = [shown(sentKind), shown(sentVersion)];
    throw new ReviewError(
      `no kind ${wrongKind} is registered for version ${wrongVersion} in scheme "webhook"`,
    );
  }
  if (!isJsonObject(status ?? {})) throw invalid('status');
  return (status ?? {}) as JsonObject;
}

const shownLengthMax = 100;

function shown(value: unknown): string {
  return quote(typeof value === 'string' ? value.slice(0, shownLengthMax) : '');
}

function invalid(field: string): ReviewError {
  return new ReviewError(`the response has an invalid ${field}`);
}

/** Throws ReviewError unless the field is text; empty if it is absent. */
export function textIn(object: JsonObject, field: string): string {
  const value = object[field] ?? '';
  if (typeof value !== 'string') throw invalid(field);
  return value;
}

/** Throws ReviewError unless the field is a boolean; false if it is absent. */
export function booleanIn(object: JsonObject, field: string): boolean {
  const value = object[field] ?? false;
  if (typeof value !== 'boolean') throw invalid(field);
  return value;
}

/** Throws ReviewError unless the field is a list of texts; empty if it is absent. */
export function textsIn(object: JsonObject, field: string): string[] {
  const value = object[field] ?? [];
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'string')) {
    throw invalid(field);
  }
  return value as string[];
}

/** Throws ReviewError unless the field is an object; empty if it is absent. */
export function objectIn(object: JsonObject, field: string): JsonObject {
  const value = object[field] ?? {};
  if (!isJsonObject(value)) throw invalid(field);
  return value;
}
