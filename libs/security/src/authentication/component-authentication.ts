/**
 * Authenticates the clients of a component server by certificate, or by the headers of a proxy with
 * a certificate. The authorities of users, and those of proxies with their headers, are each from
 * flags, or else from what the API server publishes. Tokens are left to token reviews.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { StatusError } from '@orch/apimachinery';
import {
  CertificatePoll,
  type Clock,
  type DelegatedAuthenticationOptions,
  errorMessage,
  exitCodes,
  FatalError,
  type Logger,
  type ServingAuthentication,
  type ServingOptions,
  type ServingRequest,
  systemClock,
} from '@orch/component';
import { authoritiesPollMs } from '../limits.js';
import { type Authenticator, unionOf } from './authenticator.js';
import { CertificateAuthorities } from './certificate-authorities.js';
import { clientCertificates } from './client-certificates.js';
import { publishedClients, type TrustedClients, type TrustedUsers } from './published-clients.js';
import { requestHeaders } from './request-headers.js';

export interface ComponentAuthenticationDependencies {
  readonly options: Pick<DelegatedAuthenticationOptions, 'proxy' | 'skipLookup'> & {
    readonly clientCaFile?: string | undefined;
  };
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

interface ComponentFlags {
  readonly serving: Pick<ServingOptions, 'clientCaFile'>;
  readonly authentication: Pick<DelegatedAuthenticationOptions, 'proxy' | 'skipLookup'>;
}

export class ComponentAuthentication implements ServingAuthentication {
  private readonly paths: Readonly<Record<'users' | 'proxies', string>>;
  private readonly files: CertificatePoll;
  private fromFlags: TrustedClients = {};
  private published: TrustedClients = {};
  /** The text of the settings in use. */
  private trusted = '';
  private pem = '';
  private authenticator: Authenticator = () => undefined;
  private changed: () => void = () => undefined;

  /** Reads the files of the flags. Throws `FatalError` if one is missing or invalid. */
  constructor(private readonly dependencies: ComponentAuthenticationDependencies) {
    const { options, clock, logger } = dependencies;
    this.paths = { users: options.clientCaFile ?? '', proxies: options.proxy.clientCaFile };
    this.files = new CertificatePoll({
      clock,
      periodMs: authoritiesPollMs,
      reload: () => this.readFiles(),
      onError: (reason) => logger.warn({ reason }, 'the changed client authorities cannot be used'),
    });
    try {
      const read = (path: string) => path && readFileSync(path, 'utf8');
      this.use(this.flagged(read(this.paths.users), read(this.paths.proxies)), {});
    } catch (error) {
      throw new FatalError(exitCodes.failed, errorMessage(error), { cause: error });
    }
  }

  /** As the constructor, with the flags of a process. */
  static ofFlags({ serving, authentication }: ComponentFlags, logger: Logger) {
    const { clientCaFile } = serving;
    const options = { ...authentication, clientCaFile };
    return new ComponentAuthentication({ options, clock: systemClock, logger });
  }

  /** Whether flags leave a part of the settings to the API server. */
  get needsLookup(): boolean {
    const isComplete = this.paths.users !== '' && this.paths.proxies !== '';
    return !isComplete && !this.dependencies.options.skipLookup;
  }

  get authoritiesPem(): string {
    return this.pem;
  }

  onChange(changed: () => void): void {
    this.changed = changed;
  }

  /** Follows the files of the flags. */
  start(): void {
    if (this.paths.users !== '' || this.paths.proxies !== '') this.files.start();
  }

  stop(): void {
    this.files.stop();
  }

  /** Reads the files once. Never rejects. */
  poll(): Promise<void> {
    return this.files.poll();
  }

  /** Uses the data of the published config map. Data that is not valid changes nothing. */
  publish(data: Readonly<Record<string, string>>): void {
    try {
      this.use(this.fromFlags, publishedClients(data));
    } catch (error) {
      const reason = errorMessage(error);
      this.dependencies.logger.warn({ reason }, 'the published authentication cannot be used');
    }
  }

  async authenticate(request: IncomingMessage): Promise<ServingRequest['user']> {
    try {
      const user = await this.authenticator(request);
      if (!user) return undefined;
      const { name, uid, groups, extra } = user;
      return { user: name, ...(uid !== '' && { uid }), groups, extra };
    } catch (error) {
      if (error instanceof StatusError) return 'notValid';
      throw error;
    }
  }

  private async readFiles(): Promise<void> {
    const read = async (path: string) => path && (await readFile(path, 'utf8'));
    const { users, proxies } = this.paths;
    this.use(this.flagged(await read(users), await read(proxies)), this.published);
  }

  /** The clients that the flags trust, with the contents of their files. */
  private flagged(usersPem: string, proxiesPem: string): TrustedClients {
    const { allowedNames, userHeaders, groupHeaders, extraPrefixes } =
      this.dependencies.options.proxy;
    const names = { allowedNames, userHeaders, groupHeaders, extraPrefixes };
    const { users, proxies } = this.paths;
    return {
      ...(users && { users: { authoritiesPem: usersPem, source: users } }),
      ...(proxies && { proxies: { authoritiesPem: proxiesPem, source: proxies, ...names } }),
    };
  }

  /** Throws AuthorityError if authorities are not valid, and then changes nothing. */
  private use(fromFlags: TrustedClients, published: TrustedClients): void {
    const { users, proxies } = { ...published, ...fromFlags };
    const trusted = JSON.stringify([users, proxies]);
    const authenticators = authenticatorsOf({ users, proxies }, this.dependencies.clock);
    this.fromFlags = fromFlags;
    this.published = published;
    if (trusted === this.trusted) return;
    this.trusted = trusted;
    this.authenticator = unionOf(authenticators);
    this.pem = [users, proxies].flatMap((trust) => trust?.authoritiesPem ?? []).join('\n');
    this.changed();
    this.dependencies.logger.info(
      { users: users?.source, proxies: proxies?.source },
      'client authorities in use',
    );
  }
}

function authenticatorsOf({ users, proxies }: TrustedClients, clock: Clock): Authenticator[] {
  const authorities = (trust: TrustedUsers) =>
    CertificateAuthorities.parse(trust.authoritiesPem, trust.source);
  return [
    ...(proxies ? [requestHeaders({ ...proxies, authorities: authorities(proxies) }, clock)] : []),
    ...(users ? [clientCertificates({ authorities: authorities(users), clock })] : []),
  ];
}
