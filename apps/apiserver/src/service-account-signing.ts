/** Issuer and keys of service account tokens, from the flags or the data directory. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  createSigningKeyPem,
  type KeyFile,
  ServiceAccountKeyError,
  ServiceAccountTokens,
  serviceAccountKeys,
} from '@orch/apiserver';
import { dialect, exitCodes, FatalError, systemClock, writeFileAtomic } from '@orch/component';
import type { ApiServerOptions } from './api-server-options.js';
import { readPem } from './serving.js';

/** Makes a signing key in the data directory where none is given or kept. Rejects with FatalError. */
export async function serviceAccountTokens(
  options: ApiServerOptions,
): Promise<ServiceAccountTokens> {
  const issuer =
    options.serviceAccountIssuer || `https://${dialect().word}.default.svc.cluster.local`;
  const apiAudiences = options.apiAudiences.length > 0 ? options.apiAudiences : [issuer];
  const path = options.serviceAccountSigningKeyFile || (await keptSigningKey(options.dataDir));
  try {
    const keys = serviceAccountKeys(keyFile(path), options.serviceAccountKeyFiles.map(keyFile));
    return new ServiceAccountTokens({ issuer, keys, apiAudiences, clock: systemClock });
  } catch (error) {
    if (!(error instanceof ServiceAccountKeyError)) throw error;
    throw new FatalError(exitCodes.usage, error.message, { cause: error });
  }
}

async function keptSigningKey(dataDirectory: string): Promise<string> {
  const directory = join(dataDirectory, 'pki');
  const path = join(directory, 'service-account.key');
  if (existsSync(path)) return path;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileAtomic(path, await createSigningKeyPem(), 0o600);
  return path;
}

function keyFile(path: string): KeyFile {
  return { path, pem: readPem(path) ?? '' };
}
