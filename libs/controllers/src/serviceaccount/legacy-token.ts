/**
 * Signs the tokens that secrets of service accounts store. They have no expiry and are valid while
 * the secret and the account exist.
 */
import { readFileSync } from 'node:fs';
import {
  errorMessage,
  legacyTokenClaim,
  legacyTokenIssuer,
  type TokenSigningKey,
  tokenSigningKey,
  UsageError,
} from '@orch/component';
import type { Secret, ServiceAccount } from '@orch/types/core/v1';
import { SignJWT } from 'jose';

/** The key in a file. Throws `UsageError`. */
export function readTokenKey(path: string): TokenSigningKey {
  try {
    return tokenSigningKey({ path, pem: readFileSync(path, 'utf8') });
  } catch (cause) {
    const why = errorMessage(cause);
    throw new UsageError(`--service-account-private-key-file: ${why}`, { cause });
  }
}

/** The token of the account that `secret` is to store. */
export async function signLegacyToken(
  { algorithm, id, privateKey }: TokenSigningKey,
  account: ServiceAccount,
  secret: Secret,
): Promise<string> {
  const { namespace = '', name = '', uid = '' } = account.metadata ?? {};
  return new SignJWT({
    [legacyTokenClaim('namespace')]: namespace,
    [legacyTokenClaim('secret.name')]: secret.metadata?.name ?? '',
    [legacyTokenClaim('service-account.name')]: name,
    [legacyTokenClaim('service-account.uid')]: uid,
  })
    .setProtectedHeader({ alg: algorithm, kid: id })
    .setIssuer(legacyTokenIssuer())
    .setSubject(`system:serviceaccount:${namespace}:${name}`)
    .sign(privateKey);
}
