/** A namespace that is not there is made when something is created in it. */
import { isStatus } from '@orch/apimachinery';
import type { Clock } from '@orch/component';
import type { VersionedStore } from '@orch/store';
import type { Resource } from '../registry/resource.js';
import type { AdmissionPlugin, AdmissionRequest } from './admission.js';

export interface AutoProvisionSettings {
  readonly store: VersionedStore;
  readonly clock: Clock;
  readonly namespaces: Resource;
  /** Creates the namespace as the requester. Throws StatusError. */
  readonly create: (name: string, request: AdmissionRequest) => Promise<unknown>;
}

export class NamespaceAutoProvision implements AdmissionPlugin {
  readonly name = 'NamespaceAutoProvision';

  constructor(private readonly settings: AutoProvisionSettings) {}

  async mutate(request: AdmissionRequest): Promise<void> {
    const { operation, namespace, served, context, deadlineMs } = request;
    if (operation !== 'CREATE' || namespace === '' || !served.definition.namespaced) return;
    // Nothing may be left of a dry run.
    if (context.dryRun) return;
    const { store, clock, namespaces, create } = this.settings;
    const { entry } = await store.get(namespaces.key('', namespace), {
      consistency: { kind: 'any' },
      timeoutMs: Math.max(1, deadlineMs - clock.monotonicMs()),
    });
    if (entry) return;
    try {
      await create(namespace, request);
    } catch (error) {
      // Somebody else was faster, or memory was old.
      if (!isStatus(error, 'AlreadyExists')) throw error;
    }
  }
}
