/** Issuer and keys of service account tokens, from the flags or the data directory. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  dialect,
  exitCodes,
  FatalError,
  systemClock,
  TokenKeyError,
  type TokenKeyFile,
  writeFileAtomic,
} from '@orch/component';
import { createSigningKeyPem, ServiceAccountTokens, serviceAccountKeys } from '@orch/security';
import type { ApiServerOptions } from '../options/api-server-options.js';
import { readPem } from '../options/pem-files.js';

/**
 * Returns the issuer with its keys; generates a signing key in the data directory if the flags and
 * the directory have none. Rejects with FatalError.
 */
export async function serviceAccountTokens(
  options: ApiServerOptions,
): Promise<ServiceAccountTokens> {
  const { serviceAccounts, apiAudiences: audiences } = options.authentication;
  const issuer = serviceAccounts.issuer || `https://${dialect().word}.default.svc.cluster.local`;
  const apiAudiences = audiences.length > 0 ? audiences : [issuer];
  const lifetimes = {
    secondsMax: Math.floor(serviceAccounts.maxTokenExpirationMs / 1_000),
    extendExpiration: serviceAccounts.extendTokenExpiration,
  };
  const path = serviceAccounts.signingKeyFile || (await storedSigningKey(options.dataDir));
  try {
    const keys = serviceAccountKeys(keyFile(path), serviceAccounts.keyFiles.map(keyFile));
    return new ServiceAccountTokens({ issuer, keys, apiAudiences, lifetimes, clock: systemClock });
  } catch (error) {
    if (!(error instanceof TokenKeyError)) throw error;
    throw new FatalError(exitCodes.usage, error.message);
  }
}

async function storedSigningKey(dataDirectory: string): Promise<string> {
  const directory = join(dataDirectory, 'pki');
  const path = join(directory, 'service-account.key');
  if (existsSync(path)) return path;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileAtomic(path, await createSigningKeyPem(), 0o600);
  return path;
}

function keyFile(path: string): TokenKeyFile {
  return { path, pem: readPem(path) ?? '' };
}
