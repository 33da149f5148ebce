/** What the registry works with, with the admission plugins that the flags choose. */
import { randomUUID } from 'node:crypto';
import { admissionRules, type ClusterSettings } from '@orch/api';
import {
  Admission,
  type AdmissionObserver,
  type AdmissionPlugin,
  type AdmissionRequest,
  allowAuthenticated,
  type ClaimIndex,
  createObject,
  kindRules,
  NamespaceAutoProvision,
  NamespaceLifecycle,
  type PluginNames,
  type RegistryParts,
  ResourceQuotaAdmission,
  type ResourceTable,
  selectPlugins,
} from '@orch/apiserver';
import { type Logger, systemClock } from '@orch/component';
import type { VersionedStore } from '@orch/store';

export interface RegistrySettings {
  readonly store: VersionedStore;
  readonly table: ResourceTable;
  readonly claims: ClaimIndex;
  readonly settings: ClusterSettings;
  readonly observer: AdmissionObserver;
  readonly logger: Logger;
  readonly pluginNames: PluginNames;
}

const clock = systemClock;
const random = Math.random;

/** Throws `ValueError` for plugins that cannot be chosen. */
export function registryParts(registry: RegistrySettings): RegistryParts {
  const { store, table, claims, settings, observer, pluginNames } = registry;
  const chosen = selectPlugins(
    plugins(registry, () => parts),
    pluginNames,
  );
  const parts: RegistryParts = {
    store,
    table,
    clock,
    features: table.features,
    settings,
    claims,
    admission: new Admission(chosen, clock, observer),
    random,
    newUid: randomUUID,
  };
  return parts;
}

/** All that there are. `parts`: for plugins that write objects, once there is something to write with. */
function plugins(
  { store, table, logger }: RegistrySettings,
  parts: () => RegistryParts,
): AdmissionPlugin[] {
  const namespaces = table.inStoredVersion('core', 'namespaces');
  const quotas = table.stored('core', 'resourcequotas');
  if (!namespaces || !quotas) throw new Error('namespaces and quotas are not known');
  const createNamespace = (name: string, { context, deadlineMs }: AdmissionRequest) =>
    createObject(
      parts(),
      namespaces,
      '',
      { metadata: { name } },
      { user: context.user, dryRun: false, manager: undefined, deadlineMs, warnings: [] },
    );
  return [
    new NamespaceAutoProvision({
      store,
      clock,
      namespaces: namespaces.resource,
      create: createNamespace,
    }),
    new NamespaceLifecycle(store, clock, namespaces.resource),
    ...kindRules({
      rules: admissionRules,
      store,
      table,
      clock,
      random,
      authorizer: allowAuthenticated,
    }),
    new ResourceQuotaAdmission({ store, clock, quotas, logger }),
  ];
}
