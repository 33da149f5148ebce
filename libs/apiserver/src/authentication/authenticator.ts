/**
 * Who makes a request: a bearer token of the token file or of a service account, or a verified client
 * certificate. A request that brings nothing is anonymous; one that brings something wrong is refused.
 * The answer for a connection's certificate and for a file token's header is found once.
 */

import type { TLSSocket } from 'node:tls';
import { unauthorized } from '@orch/apimachinery';
import type { Clock } from '@orch/component';
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
  readonly clock: Clock;
  readonly observer: AuthenticationObserver;
}

/** `failure`: nothing to know the user by; `error`: something that is wrong, or cannot be checked now. */
export type AuthenticationResult = 'success' | 'failure' | 'error';

/** Told of every request; must be quick. */
export interface AuthenticationObserver {
  ended(result: AuthenticationResult, seconds: number): void;
  authenticated(user: User): void;
  /** A certificate was used that ends in so many seconds. */
  certificateUsed(secondsLeft: number): void;
}

interface CertificateUser {
  readonly user: User;
  /** By the wall clock. */
  readonly expiresMs: number;
}

type CertificateOutcome = CertificateUser | 'none' | 'refused';

export class Authenticator {
  private readonly byHeader = new Map<string, User>();
  private readonly byConnection = new WeakMap<object, CertificateOutcome>();

  constructor(private readonly settings: AuthenticatorSettings) {}

  /** Rejects with 401. */
  async authenticate(request: RawRequest): Promise<User> {
    const { clock, observer } = this.settings;
    const startMs = clock.monotonicMs();
    let result: AuthenticationResult = 'error';
    try {
      const user = await this.identify(request);
      if (user) {
        result = 'success';
        observer.authenticated(user);
        return user;
      }
      result = 'failure';
      throw unauthorized();
    } finally {
      observer.ended(result, (clock.monotonicMs() - startMs) / 1_000);
    }
  }

  /** Undefined for a request that brings nothing and may not. Rejects with 401 for what is wrong. */
  private identify(request: RawRequest): User | undefined | Promise<User | undefined> {
    const header = request.headers.authorization;
    if (header === undefined || header === '') return this.withoutToken(request, false);
    return this.byHeader.get(header) ?? this.withHeader(request, header);
  }

  private async withHeader(request: RawRequest, header: string): Promise<User | undefined> {
    const user = await this.bearer(header);
    return user ?? this.withoutToken(request, /^bearer /i.test(header));
  }

  private withoutToken(request: RawRequest, isTokenWrong: boolean): User | undefined {
    const certificate = this.certificate(request);
    if (typeof certificate === 'object') {
      const { clock, observer } = this.settings;
      observer.certificateUsed((certificate.expiresMs - clock.nowMs()) / 1_000);
      return certificate.user;
    }
    if (isTokenWrong || certificate === 'refused') throw unauthorized();
    return this.settings.anonymous ? anonymousUser : undefined;
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
  const peer = socket.getPeerCertificate();
  const subject = peer?.subject as { CN?: string; O?: string | string[] } | undefined;
  if (!subject) return 'none';
  if (!socket.authorized || !subject.CN) return 'refused';
  const user = authenticated(subject.CN, '', [subject.O ?? []].flat());
  return { user, expiresMs: Date.parse(peer.valid_to) };
}
