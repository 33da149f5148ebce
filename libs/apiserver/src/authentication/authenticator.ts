/**
 * Who makes a request: a bearer token of the token file or of a service account, or a verified client
 * certificate. A request that brings nothing is anonymous; one that brings something wrong is refused.
 * The answer for a connection's certificate and for a file token's header is found once.
 */

import type { TLSSocket } from 'node:tls';
import { unauthorized } from '@orch/apimachinery';
import { credentialCacheEntriesMax } from '../limits.js';
import type { RawRequest } from '../response/exchange.js';
import type {
  ServiceAccountAuthenticator,
  TokenIdentity,
} from './service-account-authenticator.js';
import { anonymousUser, authenticated, type User } from './user.js';

export interface AuthenticatorSettings {
  readonly tokens: ReadonlyMap<string, User>;
  readonly serviceAccounts: ServiceAccountAuthenticator;
  /** Requests without credentials are let in as `system:anonymous`; otherwise 401. */
  readonly anonymous: boolean;
}

type CertificateOutcome = User | 'none' | 'refused';

export class Authenticator {
  private readonly byHeader = new Map<string, User>();
  private readonly byConnection = new WeakMap<object, CertificateOutcome>();

  constructor(private readonly settings: AuthenticatorSettings) {}

  /** Rejects with 401. */
  async authenticate(request: RawRequest): Promise<User> {
    const header = request.headers.authorization;
    if (header !== undefined && header !== '') {
      const user = this.byHeader.get(header) ?? (await this.bearer(header));
      if (user) return user;
    }
    const certificate = this.certificate(request);
    if (typeof certificate === 'object') return certificate;
    const brought = (header !== undefined && /^bearer /i.test(header)) || certificate === 'refused';
    if (brought || !this.settings.anonymous) throw unauthorized();
    return anonymousUser;
  }

  /** Audiences of the API itself. */
  get apiAudiences(): readonly string[] {
    return this.settings.serviceAccounts.apiAudiences;
  }

  /**
   * Whose `token` is where it is brought to one of `audiences`; undefined when it is nobody's. Tokens of
   * the token file are for the API alone. Rejects with StoreError.
   */
  async authenticateToken(
    token: string,
    audiences: readonly string[],
  ): Promise<TokenIdentity | undefined> {
    const { tokens, serviceAccounts } = this.settings;
    const user = tokens.get(token);
    if (!user) return serviceAccounts.authenticate(token, audiences);
    const shared = audiences.filter((audience) => this.apiAudiences.includes(audience));
    return shared.length > 0 ? { user, audiences: shared } : undefined;
  }

  private async bearer(header: string): Promise<User | undefined> {
    const token = /^Bearer +(\S+) *$/i.exec(header)?.[1];
    if (token === undefined) return undefined;
    const user = this.settings.tokens.get(token);
    if (!user) return (await this.settings.serviceAccounts.authenticate(token))?.user;
    if (this.byHeader.size >= credentialCacheEntriesMax) this.byHeader.clear();
    this.byHeader.set(header, user);
    return user;
  }

  private certificate(request: RawRequest): CertificateOutcome {
    const connection = 'stream' in request ? request.stream.session : request.socket;
    if (!connection) return 'none';
    let outcome = this.byConnection.get(connection);
    if (outcome === undefined) {
      const socket = 'socket' in connection ? connection.socket : connection;
      outcome = certificateOutcome(socket as TLSSocket);
      this.byConnection.set(connection, outcome);
    }
    return outcome;
  }
}

function certificateOutcome(socket: TLSSocket): CertificateOutcome {
  if (typeof socket.getPeerCertificate !== 'function') return 'none';
  const subject = socket.getPeerCertificate()?.subject as
    | { CN?: string; O?: string | string[] }
    | undefined;
  if (!subject) return 'none';
  if (!socket.authorized || !subject.CN) return 'refused';
  return authenticated(subject.CN, '', [subject.O ?? []].flat());
}
