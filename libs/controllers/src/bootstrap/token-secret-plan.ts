/** Bootstrap tokens in their secrets. Pure. */
import { parseTime } from '@orch/apimachinery';
import type { Secret } from '@orch/types/core/v1';

const namePrefix = 'bootstrap-token-';

export interface SigningToken {
  readonly id: string;
  readonly secret: string;
}

/**
 * When the token expires, in milliseconds since the epoch; undefined if it never does. A time that
 * cannot be read has passed.
 */
export function expirationMs(secret: Secret): number | undefined {
  const text = textOf(secret, 'expiration');
  if (text === '') return undefined;
  return parseTime(text) ?? Number.NEGATIVE_INFINITY;
}

/** The token of the secret if it signs the cluster information at this time. */
export function signingToken(secret: Secret, nowMs: number): SigningToken | undefined {
  const id = textOf(secret, 'token-id');
  const text = textOf(secret, 'token-secret');
  if (id === '' || secret.metadata?.name !== `${namePrefix}${id}` || text === '') return undefined;
  if (textOf(secret, 'usage-bootstrap-signing') !== 'true') return undefined;
  const endMs = expirationMs(secret);
  return endMs === undefined || endMs > nowMs ? { id, secret: text } : undefined;
}

function textOf({ data }: Secret, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
}
