/** The files that the flags of authentication name, read at start; authorities are followed. */
import { exitCodes, FatalError } from '@orch/component';
import {
  AuthorityError,
  CertificateAuthorities,
  type PasswordUser,
  type RequestHeaderOptions,
  readPasswordFile,
  readTokenFile,
  TokenFileError,
  type User,
} from '@orch/security';
import type { AuthenticationOptions } from '../options/authentication-options.js';
import { readPem } from '../options/pem-files.js';

export interface AuthenticationFiles {
  /** The users of the static token file, by token. */
  readonly staticTokens: ReadonlyMap<string, User>;
  /** The users of the file of basic authentication, by name. */
  readonly passwords: ReadonlyMap<string, PasswordUser>;
  readonly clientAuthorities: CertificateAuthorities | undefined;
  readonly requestHeaders: RequestHeaderOptions | undefined;
}

/** Throws FatalError if a file is missing or invalid. */
export function readAuthenticationFiles(options: AuthenticationOptions): AuthenticationFiles {
  const { tokenFile, passwordFile, clientCaFile, proxy } = options;
  try {
    const proxyAuthorities = authorities(proxy.clientCaFile);
    return {
      staticTokens: tokenFile === '' ? new Map() : readTokenFile(tokenFile),
      passwords: passwordFile === '' ? new Map() : readPasswordFile(passwordFile),
      clientAuthorities: authorities(clientCaFile),
      requestHeaders: proxyAuthorities && { ...proxy, authorities: proxyAuthorities },
    };
  } catch (error) {
    if (error instanceof AuthorityError || error instanceof TokenFileError) {
      throw new FatalError(exitCodes.usage, error.message);
    }
    throw error;
  }
}

function authorities(path: string): CertificateAuthorities | undefined {
  const pem = readPem(path);
  return pem === undefined ? undefined : CertificateAuthorities.parse(pem, path);
}
