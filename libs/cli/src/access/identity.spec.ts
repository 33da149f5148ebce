import { ApiError } from '@orch/client';
import { createAuthority, issueCertificate, systemClock } from '@orch/component';
import type { UserInfo } from '@orch/types/authentication/v1';
import { beforeAll, describe, expect, it } from 'vitest';
import { MemoryApiClient } from '../../../client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../../client/src/testing/memory-api-server.js';
import { identityInDenial, identityOf } from './identity.js';

const dayMs = 86_400_000;
const missing = new ApiError(404, 'NotFound', 'the server could not find the requested resource');

function denial(name: string): ApiError {
  return new ApiError(403, 'Forbidden', `forbidden: User "${name}" cannot get path "/x"`);
}

interface Responses {
  /** To a request for a path that is not served. */
  readonly path: ApiError;
  /** To a TokenReview. */
  readonly review: UserInfo | 'unknown' | 'forbidden';
}

/** A session with a server that gives these responses. */
function sessionOf({ path: denied, review }: Responses) {
  const client = new MemoryApiClient(new MemoryApiServer());
  const request: MemoryApiClient['request'] = async (method) => {
    if (method === 'GET') throw denied;
    if (review === 'forbidden') throw denial('x');
    const status = review === 'unknown' ? {} : { authenticated: true, user: review };
    const body = { status };
    return {
      statusCode: 201,
      headers: {},
      body: Buffer.from(JSON.stringify(body)),
      json: <T>() => body as T,
    };
  };
  return { client: Object.assign(client, { request }) };
}

describe('identityOf', () => {
  let certificate: string;

  beforeAll(async () => {
    const authority = await createAuthority('ca', dayMs, systemClock);
    const subject = { commonName: 'carol', organizations: ['dev'] };
    const request = { ...subject, usages: ['client'], validMs: dayMs } as const;
    certificate = (await issueCertificate(authority, request, systemClock)).certificatePem;
  });

  it('believes a certificate that the server confirms, and notes one that it does not', async () => {
    const credentials = { clientCertificatePem: certificate };
    const userInfo = { username: 'carol', groups: ['dev', 'system:authenticated'] };
    const confirmed = sessionOf({ path: denial('carol'), review: 'forbidden' });
    expect(await identityOf(confirmed, credentials)).toMatchObject({ userInfo, notes: [] });
    const silent = sessionOf({ path: missing, review: 'forbidden' });
    expect((await identityOf(silent, credentials)).notes).toEqual([
      'the server has not confirmed the name: it denies nothing to this user',
    ]);
  });

  it('believes the server if it has another name than the certificate or the token', async () => {
    const session = sessionOf({ path: denial('eve'), review: { username: 'ann', groups: ['a'] } });
    const credentials = { clientCertificatePem: certificate, token: 't' };
    expect(await identityOf(session, credentials)).toEqual({
      userInfo: { username: 'eve' },
      source: 'a denial of the server',
      notes: ['the groups are not known: the token is of another user'],
    });
    const anonymous = sessionOf({ path: denial('system:anonymous'), review: 'unknown' });
    expect((await identityOf(anonymous, { clientCertificatePem: certificate })).userInfo).toEqual({
      username: 'system:anonymous',
      groups: ['system:unauthenticated'],
    });
  });

  it('reads names with quotes', async () => {
    const name = 'a" cannot get path "/b';
    const session = sessionOf({ path: denial(name), review: 'forbidden' });
    expect((await identityOf(session, { token: 't' })).userInfo).toEqual({ username: name });
  });

  it('says that the user is unknown, without a guess from the token', async () => {
    const claims = Buffer.from(JSON.stringify({ sub: 'forged' })).toString('base64url');
    for (const review of ['unknown', 'forbidden'] as const) {
      const session = sessionOf({ path: missing, review });
      const failed = identityOf(session, {
        token: `e30.${claims}.x`,
        clientCertificatePem: certificate,
      });
      await expect(failed).rejects.toThrow(/the user cannot be determined/);
      await expect(failed).rejects.not.toThrow(/forged|carol/);
    }
  });

  it('reports rejected credentials', async () => {
    const rejection = new ApiError(401, 'Unauthorized', 'Unauthorized');
    const session = sessionOf({ path: rejection, review: 'unknown' });
    await expect(identityOf(session, { token: 't' })).rejects.toBe(rejection);
    expect(identityInDenial(rejection)).toBeUndefined();
    expect(identityInDenial(denial('ann'))?.userInfo).toEqual({ username: 'ann' });
  });
});
