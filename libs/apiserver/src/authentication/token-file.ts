/** The static token file: lines of `token,user,uid[,"group1,group2"]`. Read once, at start. */
import { readFileSync } from 'node:fs';
import { authenticated, type User } from './user.js';

/** A token file that cannot be used; the message names file, line and cure. */
export class TokenFileError extends Error {
  override readonly name = 'TokenFileError';
}

const tokenFileBytesMax = 16 * 1024 * 1024;

/** Users by token. Throws TokenFileError. */
export function readTokenFile(path: string): Map<string, User> {
  return parseTokenFile(readFileSync(path, 'utf8'), path);
}

export function parseTokenFile(text: string, path: string): Map<string, User> {
  if (text.length > tokenFileBytesMax) throw new TokenFileError(`${path} is too large`);
  const users = new Map<string, User>();
  for (const [index, line] of text.split('\n').entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const [token = '', name = '', uid, groups = ''] = parseRecord(trimmed);
    if (uid === undefined || token === '' || name === '') {
      throw new TokenFileError(
        `${path} line ${index + 1}: want at least token,user,uid with the first two filled in`,
      );
    }
    if (users.has(token)) {
      throw new TokenFileError(`${path} line ${index + 1}: the token stands there twice`);
    }
    const groupNames = groups.split(',').map((group) => group.trim());
    users.set(
      token,
      authenticated(
        name,
        uid,
        groupNames.filter((group) => group !== ''),
      ),
    );
  }
  return users;
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
