/** Creates a missing namespace when an object is created in it. */
import { isStatus } from '@orch/apimachinery';
import type { AdmissionPlugin, AdmissionRequest } from '@orch/registry';
import type { PluginDeclaration, PluginDependencies } from '../plugin.js';

export const namespaceAutoProvision: PluginDeclaration = {
  name: 'NamespaceAutoProvision',
  isDefault: false,
  create: (dependencies) => new NamespaceAutoProvision(dependencies),
};

class NamespaceAutoProvision implements AdmissionPlugin {
  readonly name = 'NamespaceAutoProvision';

  constructor(private readonly dependencies: PluginDependencies) {}

  async mutate(request: AdmissionRequest): Promise<void> {
    const { operation, namespace, served, context } = request;
    if (operation !== 'CREATE' || namespace === '' || !served.definition.namespaced) return;
    // Access reviews store nothing.
    if (context.dryRun || served.definition.stored.group === 'authorization') return;
    const namespaces = this.dependencies.registry().storeOf('namespaces');
    const { deadlineMs } = context;
    if (await namespaces.get({ namespace: '', name: namespace }, { kind: 'any' }, deadlineMs))
      return;
    const { now, user, features } = context;
    const own = {
      ...{ now, user, features, deadlineMs },
      ...{ dryRun: false, fieldManager: undefined, pathName: '' },
    };
    try {
      await namespaces.create('', { metadata: { name: namespace } }, { ...own, warnings: [] });
    } catch (error) {
      // Another request was faster, or memory was stale.
      if (!isStatus(error, 'AlreadyExists')) throw error;
    }
  }
}
