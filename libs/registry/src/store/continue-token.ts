/**
 * Continue tokens of chunked lists: the version of the first chunk and the last key sent. Opaque to
 * clients. A token whose version is -1 continues from the latest state (after an expiry).
 */
import { badRequest, hasMembers } from '@orch/apimachinery';
import { type Revision, toRevision } from '@orch/store';

export interface ContinueToken {
  /** Undefined: continue from the latest state. */
  readonly revision: Revision | undefined;
  /** Key below the resource's prefix after which the list continues. */
  readonly startAfter: string;
}

const tokenVersion = 'meta.v1';
const tokenLengthMax = 4_096;

export function encodeContinueToken(token: ContinueToken): string {
  const body = { v: tokenVersion, rv: token.revision ?? -1, start: token.startAfter };
  return Buffer.from(JSON.stringify(body)).toString('base64url');
}

/** Throws 400 for anything that this server has not made. */
export function decodeContinueToken(text: string): ContinueToken {
  const fields = text.length > tokenLengthMax ? undefined : parse(text);
  if (fields === undefined) throw notValid('illegal base64 data');
  const { v, rv, start } = fields;
  if (v !== tokenVersion) {
    throw notValid(`server does not recognize this encoded version ${JSON.stringify(v ?? '')}`);
  }
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0 || rv < -1) {
    throw notValid(`incorrect encoded start resourceVersion (version ${tokenVersion})`);
  }
  if (typeof start !== 'string' || start === '') {
    throw notValid(`encoded start key empty (version ${tokenVersion})`);
  }
  return { revision: rv === -1 ? undefined : toRevision(rv), startAfter: start };
}

function notValid(cause: string): Error {
  return badRequest(`invalid continue token: continue key is not valid: ${cause}`);
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return hasMembers(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
