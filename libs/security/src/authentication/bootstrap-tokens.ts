/**
 * Bootstrap tokens, with which a machine joins the cluster. Each is a secret of its own type
 * in the system namespace; the token names the secret.
 */
import { type Clock, dialect } from '@orch/component';
import type { Secret } from '@orch/types/core/v1';
import { areEqualSecrets } from './secret-digests.js';
import { type TokenAuthenticator, TokenError } from './token-authenticator.js';
import { authenticated } from './user.js';

export interface BootstrapTokensDependencies {
  /** Reads a secret of the system namespace from memory. */
  readonly readSecret: (name: string) => Promise<Secret | undefined>;
  readonly apiAudiences: readonly string[];
  readonly clock: Clock;
}

const tokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const groupPattern = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const bootstrappersGroup = 'system:bootstrappers';

export function bootstrapTokens(dependencies: BootstrapTokensDependencies): TokenAuthenticator {
  const { readSecret, apiAudiences, clock } = dependencies;
  return async (token, audiences) => {
    const [, id = '', secretText = ''] = tokenPattern.exec(token) ?? [];
    const shared = audiences.filter((audience) => apiAudiences.includes(audience));
    if (id === '' || shared.length === 0) return undefined;
    const secret = await readSecret(`bootstrap-token-${id}`);
    const data = decoded(secret?.data ?? {});
    const isEqual = areEqualSecrets(secretText, data['token-secret'] ?? '');
    if (!secret || !isEqual || !isUsable(secret, data, id, clock.nowMs())) return undefined;
    const groups = groupsOf(data['auth-extra-groups'] ?? '');
    return { user: authenticated(`system:bootstrap:${id}`, '', groups), audiences: shared };
  };
}

type Data = Readonly<Record<string, string>>;

function decoded(data: NonNullable<Secret['data']>): Data {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}

function isUsable({ type, metadata }: Secret, data: Data, id: string, nowMs: number): boolean {
  return (
    type === `bootstrap.${dialect().keyDomain}/token` &&
    metadata?.deletionTimestamp === undefined &&
    data['token-id'] === id &&
    data['usage-bootstrap-authentication'] === 'true' &&
    !hasExpired(data.expiration ?? '', nowMs)
  );
}

/** A time that cannot be read has passed. */
function hasExpired(expiration: string, nowMs: number): boolean {
  if (expiration === '') return false;
  const atMs = timePattern.test(expiration) ? Date.parse(expiration) : Number.NaN;
  return !(atMs > nowMs);
}

/** Throws TokenError for a group outside those of bootstrap tokens. */
function groupsOf(list: string): string[] {
  const extra = list === '' ? [] : list.split(',');
  if (!extra.every((group) => groupPattern.test(group))) {
    throw new TokenError('the groups of the bootstrap token are not valid');
  }
  return [...new Set([bootstrappersGroup, ...extra])].sort();
}
