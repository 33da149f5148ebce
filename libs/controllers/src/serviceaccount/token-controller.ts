/**
 * Keeps a token secret for every service account: fills secrets that name an account, deletes those
 * whose account is gone, and creates one for an account that lists none. Writes as the user of the
 * controller manager, because the tokens of all accounts pass through it.
 */
import { generatedName } from '@orch/apimachinery';
import {
  type Informer,
  type InformerSelection,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  keyOf,
  type Lister,
  resources,
} from '@orch/client';
import type { TokenSigningKey } from '@orch/component';
import type { Secret, ServiceAccount } from '@orch/types/core/v1';
import { type ControllerContext, type ControllerFactory, done } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { never, watch } from '../common/watches.js';
import { limits } from '../limits.js';
import { readTokenKey, signLegacyToken } from './legacy-token.js';
import {
  accountNameIn,
  base64,
  emptySecret,
  isListed,
  isTokenOf,
  orphanedSecrets,
  secretFill,
  tokenSecretType,
  withoutReference,
  withReference,
} from './token-plan.js';

const accountIndex = 'serviceAccount';

/** The key of the account that a token secret names. */
function accountKeys(secret: Secret): string[] {
  const name = accountNameIn(secret);
  return name === '' ? [] : [keyOf(secret.metadata?.namespace ?? '', name)];
}

/** `<namespace>/<account>/<secret>`. */
function referenceKeys(secret: Secret): string[] {
  return accountKeys(secret).map((key) => `${key}/${secret.metadata?.name ?? ''}`);
}

/** Absent without a key to sign with. */
export const tokenController: ControllerFactory = (context, options) => {
  if (options.accountPrivateKeyFile === '') return undefined;
  const selection = { fieldSelector: `type=${tokenSecretType()}` };
  const key = readTokenKey(options.accountPrivateKeyFile);
  const reconciler = new TokenReconciler(context, key, selection);
  const builder = controller('serviceaccount_tokens_service', context)
    .workers(options.accountTokenSyncs)
    .for(resources.serviceAccounts)
    // The account changes when it no longer lists a deleted secret.
    .watches(resources.secrets, accountKeys, { selection, delete: never });
  const deleted = builder.extraQueue(
    'serviceaccount_tokens_secret',
    options.accountTokenSyncs,
    async (reference) => {
      await reconciler.reconcileReference(reference);
      return done;
    },
  );
  const deletions = { selection, create: never, update: never };
  watch(context, deleted, resources.secrets, referenceKeys, deletions);
  return builder.reconcile(async (accountKey) => {
    await reconciler.reconcile(accountKey);
    return done;
  });
};

class TokenReconciler {
  private readonly accounts: Lister<ServiceAccount>;
  private readonly secrets: Informer<Secret>;

  constructor(
    private readonly context: ControllerContext,
    private readonly key: TokenSigningKey,
    selection: InformerSelection,
  ) {
    this.accounts = context.informers.informer(resources.serviceAccounts).lister;
    this.secrets = context.informers.informer(resources.secrets, selection);
    this.secrets.addIndex(accountIndex, accountKeys);
  }

  async reconcile(key: string): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    const secrets = this.secrets.lister.byIndex(accountIndex, key);
    let account = this.accounts.get(key);
    if (orphanedSecrets(account, secrets).length > 0) {
      // The cache of accounts may be behind that of secrets.
      account = await this.readAccount(namespace, name);
    }
    const orphaned = orphanedSecrets(account, secrets);
    for (const secret of orphaned) await this.delete(secret);
    if (!account) return;
    for (const secret of secrets) {
      if (!orphaned.includes(secret)) await this.fill(account, secret);
    }
    await this.ensureToken(account);
  }

  /** Removes the reference of an account to a token secret that was deleted. */
  async reconcileReference(reference: string): Promise<void> {
    const [namespace = '', accountName = '', secretName = ''] = reference.split('/');
    const account = await this.readAccount(namespace, accountName);
    if (!account || !isListed(account, secretName)) return;
    if (await this.readSecret(namespace, secretName)) return;
    const client = this.context.client.resource(resources.serviceAccounts, namespace);
    // A conflict is retried with back-off: no later change of the secret enqueues it again.
    await ignoring(client.replace(withoutReference(account, secretName)), isNotFound);
  }

  private async fill(account: ServiceAccount, secret: Secret): Promise<void> {
    const filled = await this.filled(account, secret);
    if (!filled) return;
    const client = this.context.client.resource(resources.secrets, secret.metadata?.namespace);
    await ignoring(client.replace(filled), isConflict, isNotFound);
  }

  private async filled(account: ServiceAccount, secret: Secret): Promise<Secret | undefined> {
    const fill = secretFill(account, secret, this.context.authorityPem);
    if (!fill) return undefined;
    const { metadata, data, needsToken } = fill;
    const token = needsToken && {
      token: base64(await signLegacyToken(this.key, account, secret)),
    };
    return { ...secret, metadata, data: { ...data, ...token } };
  }

  /** Creates and lists a token secret if the account lists none that exists. */
  private async ensureToken(cached: ServiceAccount): Promise<void> {
    const { namespace = '', name = '', resourceVersion } = cached.metadata ?? {};
    if (cached.metadata?.deletionTimestamp || this.listsCachedToken(cached)) return;
    const account = await this.readAccount(namespace, name);
    // A newer version of the account is delivered and enqueues it again.
    if (account?.metadata?.resourceVersion !== resourceVersion || !account) return;
    if (await this.listsToken(account)) return;
    const empty = emptySecret(account, generatedName(`${name}-token-`, this.context.random));
    const secret = await this.filled(account, empty);
    if (!secret) return;
    const client = this.context.client.resource(resources.secrets, namespace);
    const created = await ignoring(client.create(secret), isNamespaceTerminating, isNotFound);
    if (created) await this.listOrDelete(account, created);
  }

  private listsCachedToken(account: ServiceAccount): boolean {
    const { namespace = '' } = account.metadata ?? {};
    return (account.secrets ?? []).some((reference) => {
      const secret = this.secrets.lister.get(keyOf(namespace, reference.name ?? ''));
      return secret !== undefined && isTokenOf(account, secret);
    });
  }

  /** Reads the listed secrets from the server: the cache may lack a new one. */
  private async listsToken(account: ServiceAccount): Promise<boolean> {
    const { namespace = '' } = account.metadata ?? {};
    for (const { name } of account.secrets ?? []) {
      const secret = name ? await this.readSecret(namespace, name) : undefined;
      if (secret && isTokenOf(account, secret)) return true;
    }
    return false;
  }

  /** Deletes the new secret if its account is gone or cannot list it. */
  private async listOrDelete(account: ServiceAccount, secret: Secret): Promise<void> {
    let isListed = false;
    try {
      isListed = await this.list(account, secret.metadata?.name ?? '');
    } finally {
      if (!isListed) await this.delete(secret);
    }
  }

  private async list(account: ServiceAccount, secretName: string): Promise<boolean> {
    const { namespace = '', name = '', uid } = account.metadata ?? {};
    const client = this.context.client.resource(resources.serviceAccounts, namespace);
    let current: ServiceAccount | undefined = account;
    for (let attempt = 0; attempt < limits.tokenListingAttemptCountMax; attempt++) {
      if (!current || current.metadata?.uid !== uid) return false;
      const listing = client.replace(withReference(current, secretName));
      if (await ignoring(listing, isConflict, isNotFound)) return true;
      current = await this.readAccount(namespace, name);
    }
    throw new Error(`service account ${namespace}/${name} changes too often to list its token`);
  }

  private async delete({ metadata = {} }: Secret): Promise<void> {
    const { namespace, name = '', uid } = metadata;
    const client = this.context.client.resource(resources.secrets, namespace);
    const deletion = client.delete(name, { preconditions: { uid } });
    await ignoring(deletion, isConflict, isNotFound);
  }

  private readAccount(namespace: string, name: string): Promise<ServiceAccount | undefined> {
    const client = this.context.client.resource(resources.serviceAccounts, namespace);
    return ignoring(client.get(name), isNotFound);
  }

  private readSecret(namespace: string, name: string): Promise<Secret | undefined> {
    const client = this.context.client.resource(resources.secrets, namespace);
    return ignoring(client.get(name), isNotFound);
  }
}
