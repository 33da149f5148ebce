/** The policies of the mode ABAC, from the flags. */
import { exitCodes, FatalError } from '@orch/component';
import { AbacFileError, AbacPolicies, readAbacFile } from '@orch/security';
import type { AuthorizationOptions } from '../options/authorization-options.js';

/** Throws FatalError if the file cannot be used, or if mode and file do not fit together. */
export function abacPolicies({
  modes,
  policyFile,
}: Pick<AuthorizationOptions, 'modes' | 'policyFile'>): AbacPolicies {
  const isUsed = modes.includes('ABAC');
  if (isUsed && policyFile === '') {
    throw new FatalError(
      exitCodes.usage,
      "authorization-mode ABAC's authorization policy file not passed; set --authorization-policy-file",
    );
  }
  if (!isUsed && policyFile !== '') {
    throw new FatalError(
      exitCodes.usage,
      'cannot specify --authorization-policy-file without mode ABAC',
    );
  }
  if (!isUsed) return new AbacPolicies([]);
  try {
    return readAbacFile(policyFile);
  } catch (error) {
    if (!(error instanceof AbacFileError)) throw error;
    throw new FatalError(exitCodes.usage, `--authorization-policy-file: ${error.message}`, {
      cause: error,
    });
  }
}
