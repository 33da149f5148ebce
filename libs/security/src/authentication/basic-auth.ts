/**
 * Basic authentication with the passwords of a file. Off by default: passwords are sent with each
 * request and never expire.
 */
import { unauthorized } from '@orch/apimachinery';
import { basicCredentialsLengthMax } from '../limits.js';
import type { Authenticator } from './authenticator.js';
import { areEqualSecrets } from './secret-digests.js';
import type { User } from './user.js';

export interface PasswordUser {
  readonly user: User;
  readonly password: string;
}

const scheme = 'basic ';

/** `users`: by name. Rejects with 401 for an unknown user and for a wrong password. */
export function basicAuth(users: ReadonlyMap<string, PasswordUser>): Authenticator {
  return ({ headers: { authorization: header = '' } }) => {
    if (header.slice(0, scheme.length).toLowerCase() !== scheme) return undefined;
    const encoded = header.slice(scheme.length).trim();
    if (encoded.length > basicCredentialsLengthMax) throw unauthorized();
    const credentials = Buffer.from(encoded, 'base64').toString();
    const separator = credentials.indexOf(':');
    if (separator < 0) throw unauthorized();
    const found = users.get(credentials.slice(0, separator));
    const password = credentials.slice(separator + 1);
    // An unknown user takes as long as a wrong password.
    const isEqual = areEqualSecrets(password, found?.password ?? '');
    if (!found || !isEqual) throw unauthorized();
    return found.user;
  };
}
