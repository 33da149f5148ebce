/**
 * The clients of controllers that write with the tokens of their own service accounts. They share
 * connections, on which the client certificate of the controller manager is not presented.
 */
import type { ApiClient } from '@orch/client';
import { AccountToken, type AccountTokenDependencies } from './account-token.js';
import { accountNameOf } from './service-accounts.js';

export class AccountClients {
  private readonly tokens = new Map<string, AccountToken>();

  /** `anonymous`: a client without credentials, from which the others derive. */
  constructor(
    private readonly anonymous: ApiClient,
    private readonly dependencies: AccountTokenDependencies,
  ) {}

  /** Resolves when the accounts of all named controllers have tokens. */
  async start(controllers: readonly string[]): Promise<void> {
    for (const name of new Set(controllers.map(accountNameOf))) {
      this.tokens.set(name, new AccountToken(name, this.dependencies));
    }
    await Promise.all([...this.tokens.values()].map((token) => token.start()));
  }

  /** The client of a controller that `start` named, with its own rate limit. */
  clientFor(controller: string, rate: { readonly qps: number; readonly burst: number }): ApiClient {
    const token = this.tokens.get(accountNameOf(controller));
    if (!token) throw new Error(`controller ${controller} has no service account`);
    return this.anonymous.derive({
      ...rate,
      token: () => token.current,
      onUnauthorized: () => token.rejected(),
    });
  }
}
