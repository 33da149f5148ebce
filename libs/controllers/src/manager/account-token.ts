/**
 * The token of one service account of the system namespace. It is renewed in the background before
 * it expires, and when a server rejects it. If that fails, the old token remains in use and the
 * renewal is retried with back-off. The account is created if it is missing.
 */
import { type ApiClient, isAlreadyExists, isNotFound, resources } from '@orch/client';
import { Backoff, type Clock, dialect, type Logger, retry, type Timer } from '@orch/component';
import type { TokenRequest } from '@orch/types/authentication/v1';
import { ignoring } from '../common/expected-errors.js';
import { limits } from '../limits.js';

/** Share of its lifetime after which a token is renewed. */
const renewalShare = 0.8;

export interface AccountTokenDependencies {
  /** Requests tokens and creates accounts. */
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  /** Ends renewal when it aborts. */
  readonly signal: AbortSignal;
}

export class AccountToken {
  private value: string | undefined;
  private obtainedMs = 0;
  private timer: Timer | undefined;
  private isRenewing = false;
  private readonly backoff: Backoff;

  constructor(
    readonly accountName: string,
    private readonly dependencies: AccountTokenDependencies,
  ) {
    this.backoff = new Backoff(this.backoffOptions());
    dependencies.signal.addEventListener('abort', () => this.timer?.cancel(), { once: true });
  }

  /** The token; undefined before `start` has resolved. */
  get current(): string | undefined {
    return this.value;
  }

  /** Resolves when there is a token. Rejects with the last error after all attempts failed. */
  async start(): Promise<void> {
    const { clock, signal } = this.dependencies;
    await retry(() => this.obtain(), {
      ...this.backoffOptions(),
      attemptCountMax: limits.tokenAttemptCountMax,
      signal,
      clock,
    });
  }

  /** Renews the token, unless it is new or a renewal is pending already. */
  rejected(): void {
    const ageMs = this.dependencies.clock.monotonicMs() - this.obtainedMs;
    if (this.value === undefined || ageMs < limits.tokenRejectionPauseMs) return;
    if (this.backoff.failureCount === 0) void this.renew();
  }

  private async renew(): Promise<void> {
    const { logger, signal } = this.dependencies;
    if (this.isRenewing || signal.aborted) return;
    this.isRenewing = true;
    try {
      await this.obtain();
    } catch (error) {
      if (signal.aborted) return;
      const delayMs = this.backoff.nextMs();
      logger.warn({ err: error, account: this.accountName, delayMs }, 'token was not renewed');
      this.renewLater(delayMs);
    } finally {
      this.isRenewing = false;
    }
  }

  private async obtain(): Promise<void> {
    const { clock } = this.dependencies;
    const requestedMs = clock.monotonicMs();
    const status = (await this.request()) ?? (await this.createAndRequest());
    const lifetimeMs = Date.parse(status.expirationTimestamp) - clock.nowMs();
    this.value = status.token;
    this.obtainedMs = requestedMs;
    this.backoff.reset();
    const renewalMs = lifetimeMs * renewalShare;
    this.renewLater(Math.max(limits.tokenRejectionPauseMs, renewalMs));
  }

  private renewLater(delayMs: number): void {
    const { clock, signal } = this.dependencies;
    this.timer?.cancel();
    if (signal.aborted) return;
    this.timer = clock.setTimer(delayMs, () => void this.renew());
  }

  /** Requests a token; undefined if the account does not exist. */
  private async request(): Promise<Required<TokenStatus> | undefined> {
    const { client, signal } = this.dependencies;
    const { systemNamespace } = dialect();
    const path = `/api/v1/namespaces/${systemNamespace}/serviceaccounts/${this.accountName}/token`;
    const body: TokenRequest = {
      apiVersion: dialect().apiVersion('authentication', 'v1'),
      kind: 'TokenRequest',
      spec: { audiences: [], expirationSeconds: limits.tokenLifetimeSeconds },
    };
    try {
      const { status } = (
        await client.request('POST', path, { body, signal })
      ).json<TokenRequest>();
      const { token, expirationTimestamp } = status ?? {};
      if (token && expirationTimestamp) return { token, expirationTimestamp };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
    throw new Error(`the API server returned no token of service account ${this.accountName}`);
  }

  private async createAndRequest(): Promise<Required<TokenStatus>> {
    const { client, signal } = this.dependencies;
    const creation = client
      .resource(resources.serviceAccounts, dialect().systemNamespace)
      .create({ metadata: { name: this.accountName } }, { signal });
    await ignoring(creation, isAlreadyExists);
    const status = await this.request();
    if (!status) throw new Error(`service account ${this.accountName} was deleted`);
    return status;
  }

  private backoffOptions() {
    return {
      initialMs: limits.tokenRetryMsMin,
      maxMs: limits.tokenRetryMsMax,
      factor: 2,
      jitter: 0.5,
      random: this.dependencies.random,
    };
  }
}

type TokenStatus = Pick<NonNullable<TokenRequest['status']>, 'token' | 'expirationTimestamp'>;
