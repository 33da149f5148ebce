/** The two plugins that call the webhooks of configurations. */
import type { PluginDeclaration, PluginDependencies } from '../plugin.js';
import { type CredentialsFor, noCredentials, readCredentials } from './credentials.js';
import { FollowedHooks } from './followed-hooks.js';
import { HookCaller } from './hook-caller.js';
import { HookSelectors } from './hook-selectors.js';
import { MutatingWebhooks, type WebhookPluginDependencies } from './mutating-webhooks.js';
import { ValidatingWebhooks } from './validating-webhooks.js';
import { WebhookMetrics } from './webhook-metrics.js';

export const mutatingWebhooks = declaration('MutatingAdmissionWebhook', noCredentials);
export const validatingWebhooks = declaration('ValidatingAdmissionWebhook', noCredentials);

type PluginName = 'MutatingAdmissionWebhook' | 'ValidatingAdmissionWebhook';

function declaration(name: PluginName, credentialsFor: CredentialsFor): PluginDeclaration {
  return {
    name,
    isDefault: true,
    create: (dependencies) =>
      name === 'MutatingAdmissionWebhook'
        ? new MutatingWebhooks(partsOf(dependencies, credentialsFor, true))
        : new ValidatingWebhooks(partsOf(dependencies, credentialsFor, false)),
    configured: (document) => declaration(name, readCredentials(document)),
  };
}

function partsOf(
  dependencies: PluginDependencies,
  credentialsFor: CredentialsFor,
  isMutating: boolean,
): WebhookPluginDependencies {
  const { store, table, clock, logger, newUid, webhooks: client, convert } = dependencies;
  const plural = `${isMutating ? 'mutating' : 'validating'}webhookconfigurations`;
  const metrics = new WebhookMetrics(dependencies.metrics, isMutating ? 'admit' : 'validating');
  return {
    hooks: new FollowedHooks({ store, table, clock, logger, plural }),
    caller: new HookCaller({
      ...{ client, credentialsFor, metrics, clock, newUid, logger, isMutating },
    }),
    selectors: new HookSelectors({ store, table, clock }),
    table,
    convert,
  };
}
