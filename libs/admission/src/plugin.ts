/**
 * An admission plugin in one declaration: its name, whether it is enabled by default, the
 * operations that it handles, and its factory. A new plugin is a file in `plugins/` and an entry in
 * the list of `plugins.ts`.
 */
import type { Clock, Logger, Metrics } from '@orch/component';
import type { AdmissionPlugin, Registry, ResourceTable } from '@orch/registry';
import type { Authorizer, WebhookClient } from '@orch/security';
import type { ReadWriteStore } from '@orch/store';
import type { ConfigurationDocument } from './configuration/document.js';
import type { ConvertCustom } from './webhooks/reviewed-request.js';

export interface PluginDependencies {
  readonly store: ReadWriteStore;
  readonly table: ResourceTable;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly authorize: Authorizer;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly newUid: () => string;
  /** Calls the webhooks that configurations name. */
  readonly webhooks: Pick<WebhookClient, 'call'>;
  readonly convert: ConvertCustom;
  /** For plugins that write objects; must not be called before the registry exists. */
  readonly registry: () => Registry;
}

export interface PluginDeclaration {
  readonly name: string;
  /** Whether it runs unless it is disabled. */
  readonly isDefault: boolean;
  /** Why the plugin cannot be enabled in this version; absent: it can. */
  readonly unavailable?: string;
  readonly create: (dependencies: PluginDependencies) => AdmissionPlugin;
  /**
   * The plugin with a configuration. Throws ValueError. Absent: the plugin has no
   * configuration.
   */
  readonly configured?: (document: ConfigurationDocument) => PluginDeclaration;
}

/** A plugin that the interface names and this version does not have. */
export function unavailable(name: string, reason: string): PluginDeclaration {
  return {
    name,
    isDefault: false,
    unavailable: reason,
    create() {
      throw new Error(`${name} is not available: ${reason}`);
    },
  };
}
