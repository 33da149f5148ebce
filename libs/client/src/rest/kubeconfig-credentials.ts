/**
 * The credentials of a component: those of its kubeconfig and of the files that it names. They are
 * reloaded when they change, so that a rotation needs no restart: certificate, key, authorities and
 * token. The addresses of the servers and passwords are read once.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import {
  CertificatePoll,
  type Clock,
  type ConnectionConfig,
  FollowedKubeconfig,
  type KeyPairPem,
  type Logger,
} from '@orch/component';
import { limits } from '../limits.js';
import { restClientOptions } from './from-connection.js';
import type { RestClientOptions, TlsCredentials } from './rest-types.js';

export interface KubeconfigCredentialsOptions {
  /** The kubeconfig. */
  readonly path: string;
  /** Client certificate instead of that of the kubeconfig, until `present` replaces it. */
  readonly pair?: KeyPairPem;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class KubeconfigCredentials {
  private readonly kubeconfig: FollowedKubeconfig;
  private connection: ConnectionConfig;
  private token: RestClientOptions['token'];
  private pair: KeyPairPem | undefined;
  private readonly clients: { useTls(tls: TlsCredentials): void }[] = [];
  private readonly files: CertificatePoll;

  /** Throws `KubeconfigError`. */
  constructor(private readonly options: KubeconfigCredentialsOptions) {
    const { path, pair, clock, logger } = options;
    this.kubeconfig = new FollowedKubeconfig(path);
    this.connection = this.kubeconfig.connection();
    this.token = restClientOptions(this.connection).token;
    this.pair = pair;
    this.files = new CertificatePoll({
      clock,
      periodMs: limits.credentialPollMs,
      reload: async () => this.reload(),
      onError: (reason) => logger.warn({ reason }, 'the changed kubeconfig cannot be used'),
    });
  }

  /** The options of a client that presents these credentials; `follow` replaces them later. */
  clientOptions(): RestClientOptions {
    return {
      ...restClientOptions(this.connection),
      ...this.tls(),
      token: () => (typeof this.token === 'function' ? this.token() : this.token),
    };
  }

  follow(client: { useTls(tls: TlsCredentials): void }): void {
    this.clients.push(client);
  }

  /** Presents this client certificate from now on, instead of that of the kubeconfig. */
  present(pair: KeyPairPem): void {
    this.pair = pair;
    this.apply();
  }

  /** Starts to check the files for changes. */
  start(): void {
    this.files.start();
  }

  stop(): void {
    this.files.stop();
  }

  /** Checks the files once. Never rejects: after an error the current credentials stay in use. */
  poll(): Promise<void> {
    return this.files.poll();
  }

  private reload(): void {
    const before = this.connection;
    const next = this.kubeconfig.connection();
    const { token } = restClientOptions(next);
    if (!hasSamePair(next, before)) checkPair(next);
    this.connection = next;
    if (next.token !== before.token || next.tokenFile !== before.tokenFile) this.token = token;
    const isSame =
      next.certificateAuthorityPem === before.certificateAuthorityPem &&
      (this.pair !== undefined || hasSamePair(next, before));
    if (isSame) return;
    this.apply();
    this.options.logger.info({ kubeconfig: this.options.path }, 'client credentials replaced');
  }

  private apply(): void {
    for (const client of this.clients) client.useTls(this.tls());
  }

  private tls(): TlsCredentials {
    const { ca, clientCertificate } = restClientOptions(this.connection);
    const own = this.pair && {
      certificate: this.pair.certificatePem,
      key: this.pair.keyPem,
    };
    const presented = own ?? clientCertificate;
    return { ...(ca && { ca }), ...(presented && { clientCertificate: presented }) };
  }
}

function hasSamePair(one: ConnectionConfig, other: ConnectionConfig): boolean {
  return (
    one.clientCertificatePem === other.clientCertificatePem &&
    one.clientKeyPem === other.clientKeyPem
  );
}

/** Throws if certificate and key do not match, as when half of them is written. */
function checkPair({ clientCertificatePem, clientKeyPem }: ConnectionConfig): void {
  if (clientCertificatePem === undefined || clientKeyPem === undefined) return;
  const certificate = new X509Certificate(clientCertificatePem);
  if (!certificate.checkPrivateKey(createPrivateKey(clientKeyPem))) {
    throw new Error('the client key is not the key of the client certificate');
  }
}
