/**
 * Files of credentials, read once, at start: the static token file with lines of
 * `token,user,uid[,"group1,group2"]`, and the file of basic authentication, with passwords in place
 * of the tokens.
 */
import { readFileSync, statSync } from 'node:fs';
import { errorMessage } from '@orch/component';
import { credentialFileBytesMax } from '../limits.js';
import type { PasswordUser } from './basic-auth.js';
import { authenticated, type User } from './user.js';

/** A file of credentials that cannot be used; the message names file, line and cure. */
export class TokenFileError extends Error {
  override readonly name = 'TokenFileError';
}

/** Users by token. Throws TokenFileError. */
export function readTokenFile(path: string): Map<string, User> {
  return parseTokenFile(readCredentials(path), path);
}

export function parseTokenFile(text: string, path: string): Map<string, User> {
  const users = new Map<string, User>();
  for (const { secret, user, line } of credentialsIn(text, path, 'token')) {
    if (users.has(secret)) {
      throw new TokenFileError(`${path} line ${line}: the token is listed twice`);
    }
    users.set(secret, user);
  }
  return users;
}

/** Users and their passwords, by name. Throws TokenFileError. */
export function readPasswordFile(path: string): Map<string, PasswordUser> {
  return parsePasswordFile(readCredentials(path), path);
}

export function parsePasswordFile(text: string, path: string): Map<string, PasswordUser> {
  const users = new Map<string, PasswordUser>();
  for (const { secret, user, line } of credentialsIn(text, path, 'password')) {
    if (users.has(user.name)) {
      throw new TokenFileError(`${path} line ${line}: the user is listed twice`);
    }
    users.set(user.name, { user, password: secret });
  }
  return users;
}

function readCredentials(path: string): string {
  try {
    if (statSync(path).size > credentialFileBytesMax) {
      throw new TokenFileError(`${path} is larger than ${credentialFileBytesMax} bytes`);
    }
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof TokenFileError) throw error;
    throw new TokenFileError(`cannot read ${path}: ${errorMessage(error)}`, { cause: error });
  }
}

interface Credential {
  readonly secret: string;
  readonly user: User;
  readonly line: number;
}

function* credentialsIn(text: string, path: string, column: string): Generator<Credential> {
  for (const [index, lineText] of text.split('\n').entries()) {
    const trimmed = lineText.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const line = index + 1;
    const [secret = '', name = '', uid, list = ''] = parseRecord(trimmed);
    if (uid === undefined || secret === '' || name === '') {
      throw new TokenFileError(
        `${path} line ${line}: want at least ${column},user,uid with the first two filled in`,
      );
    }
    const groups = list.split(',').map((group) => group.trim());
    const user = authenticated(
      name,
      uid,
      groups.filter((group) => group !== ''),
    );
    yield { secret, user, line };
  }
}

/** Fields of one line; a field in double quotes may hold commas, and quotes written twice. */
function parseRecord(line: string): string[] {
  const fields: string[] = [];
  let field = '';
  let quoted = false;
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at]!;
    if (quoted) {
      if (character !== '"') field += character;
      else if (line[at + 1] === '"') {
        field += '"';
        at += 1;
      } else quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === ',') {
      fields.push(field.trim());
      field = '';
    } else field += character;
  }
  fields.push(field.trim());
  return fields;
}
