/**
 * The user of a session, for `auth whoami`. The interface has no review of the own user, so the
 * result names its source: a denial of the server contains the user name, a TokenReview describes
 * the user of a token, and a client certificate contains a name and groups. No source is guessed
 * from the content of a token.
 */
import { X509Certificate } from 'node:crypto';
import { type ApiClient, ApiError } from '@orch/client';
import { type ConnectionConfig, errorMessage } from '@orch/component';
import type { TokenReview, UserInfo } from '@orch/types/authentication/v1';
import { CliError } from '../command-line/errors.js';

export interface Identity {
  readonly userInfo: UserInfo;
  readonly source: string;
  /** Limits of the source. */
  readonly notes: readonly string[];
}

/** A path that no server serves. Users without all permissions get a denial with their name. */
const deniedPath = '/orchctl-whoami';
const authenticatedGroup = 'system:authenticated';
const anonymousName = 'system:anonymous';
const unknownGroups = 'the groups are not known';
const denialSource = 'a denial of the server';
const anonymous: Identity = {
  userInfo: { username: anonymousName, groups: ['system:unauthenticated'] },
  source: denialSource,
  notes: [],
};

interface Connected {
  readonly client: Pick<ApiClient, 'request' | 'resource'>;
}

type Credentials = Pick<
  ConnectionConfig,
  'token' | 'clientCertificatePem' | 'impersonateUser' | 'impersonateGroups'
>;

/** Throws `CliError` if no source names the user, `ApiError` if the credentials are rejected. */
export async function identityOf(session: Connected, credentials: Credentials): Promise<Identity> {
  const deniedName = await nameInDenial(session);
  if (credentials.impersonateUser) return impersonated(credentials, deniedName);
  if (deniedName === anonymousName) return anonymous;
  const reviewed = credentials.token
    ? await reviewedUser(session, credentials.token)
    : { problem: 'the session has no bearer token' };
  if ('user' in reviewed && agrees(reviewed.user, deniedName)) {
    return { userInfo: reviewed.user, source: 'a TokenReview of the bearer token', notes: [] };
  }
  const certified = credentials.clientCertificatePem
    ? certificateUser(credentials.clientCertificatePem)
    : undefined;
  // A server that accepts the token does not read the certificate.
  if (certified && agrees(certified, deniedName) && (deniedName || !credentials.token)) {
    const notes = deniedName
      ? []
      : ['the server has not confirmed the name: it denies nothing to this user'];
    return { userInfo: certified, source: 'the subject of the client certificate', notes };
  }
  const problem = 'problem' in reviewed ? reviewed.problem : 'the token is of another user';
  if (deniedName !== undefined) {
    const notes = [`${unknownGroups}: ${problem}`];
    return { userInfo: { username: deniedName }, source: denialSource, notes };
  }
  throw new CliError(
    `the user cannot be determined: the server has no API that returns it, it denies nothing to this user, and ${problem}`,
  );
}

function agrees(user: UserInfo, deniedName: string | undefined): boolean {
  return deniedName === undefined || user.username === deniedName;
}

function impersonated(credentials: Credentials, deniedName: string | undefined): Identity {
  const { impersonateUser: username, impersonateGroups: groups = [] } = credentials;
  const notes = ['the server adds the groups that every user of this kind has'];
  if (deniedName === undefined) {
    notes.push('the server has not confirmed the name: it denies nothing to this user');
  }
  return {
    userInfo: { username: deniedName ?? username, groups: [...groups] },
    source: 'impersonation',
    notes,
  };
}

async function nameInDenial({ client }: Connected): Promise<string | undefined> {
  try {
    await client.request('GET', deniedPath);
  } catch (error) {
    if (!(error instanceof ApiError) || error.statusCode === 401) throw error;
    return deniedUserName(error);
  }
  return undefined;
}

/** The user of a request, if the error is a denial by the authorizer of the server. */
function deniedUserName(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.statusCode !== 403) return undefined;
  // The name may contain quotes; the texts around it are those of the server.
  return /User "(.*)" cannot \S+ (?:path|resource) "/s.exec(error.message)?.[1];
}

/** The identity in a denial of discovery, without which no session opens. */
export function identityInDenial(error: unknown): Identity | undefined {
  const username = deniedUserName(error);
  if (username === undefined) return undefined;
  if (username === anonymousName) return anonymous;
  const notes = [`${unknownGroups}: the user may not discover the API`];
  return { userInfo: { username }, source: denialSource, notes };
}

async function reviewedUser(
  { client }: Connected,
  token: string,
): Promise<{ user: UserInfo } | { problem: string }> {
  const reviews = client.resource<TokenReview>({
    group: 'authentication',
    version: 'v1',
    plural: 'tokenreviews',
  });
  try {
    const { status } = await reviews.create({ spec: { token } });
    if (status?.authenticated && status.user) return { user: status.user };
    return { problem: 'a TokenReview does not confirm the bearer token' };
  } catch (error) {
    if (!(error instanceof ApiError) || error.statusCode !== 403) throw error;
    return { problem: 'the user may not create a TokenReview of the bearer token' };
  }
}

/** The common name and the organizations, as the server reads them. */
function certificateUser(pem: string): UserInfo | undefined {
  let subject: { CN?: string; O?: string | string[] };
  try {
    subject = new X509Certificate(pem).toLegacyObject().subject as typeof subject;
  } catch (error) {
    throw new CliError(`cannot read the client certificate: ${errorMessage(error)}`);
  }
  if (!subject.CN) return undefined;
  return { username: subject.CN, groups: [...[subject.O ?? []].flat(), authenticatedGroup] };
}
