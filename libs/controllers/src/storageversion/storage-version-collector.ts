/**
 * Removes from storage versions the entries of API servers without an identity lease, and storage
 * versions without entries. The cache of leases may be behind: a missing lease is read from the
 * server before an entry is removed.
 */
import { type Informer, isConflict, isNotFound, resources } from '@orch/client';
import { dialect } from '@orch/component';
import type { Lease } from '@orch/types/coordination/v1';
import type { StorageVersion } from '@orch/types/internal.apiserver/v1alpha1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { replaceStatus } from '../common/replace-status.js';
import { never } from '../common/watches.js';
import { serversOf, statusWithout } from './storage-version-plan.js';

export const storageVersionCollector: ControllerFactory = (context) => {
  const { features } = context;
  if (!features.enabled('APIServerIdentity') || !features.enabled('StorageVersionAPI')) {
    return undefined;
  }
  const collector = new StorageVersionCollector(context);
  const built = controller('storage_version_gc', context).for(resources.storageVersions, {
    delete: never,
  });
  collector.watch((name) => built.queue.add(name));
  return built.reconcile((name) => collector.reconcile(name));
};

class StorageVersionCollector {
  private readonly storageVersions: Informer<StorageVersion>;
  private readonly leases: Informer<Lease>;

  constructor(private readonly context: ControllerContext) {
    const { informers } = context;
    this.storageVersions = informers.informer(resources.storageVersions);
    this.leases = informers.informer(resources.leases, {
      namespace: dialect().systemNamespace,
      labelSelector: `${identityLabel()}=${identityOfServers()}`,
    });
  }

  /** `enqueue` is called for the storage versions of a server whose lease is deleted. */
  watch(enqueue: (name: string) => void): void {
    this.leases.addHandlers({
      onDelete: ({ metadata }) => {
        for (const one of this.storageVersions.lister.list()) {
          if (serversOf(one).includes(metadata?.name ?? '')) enqueue(one.metadata?.name ?? '');
        }
      },
    });
  }

  async reconcile(name: string): Promise<ReconcileResult> {
    const storageVersion = this.storageVersions.lister.get(name);
    if (!storageVersion) return done;
    const gone = new Set<string>();
    for (const server of new Set(serversOf(storageVersion))) {
      if (!(await this.isPresent(server))) gone.add(server);
    }
    if (gone.size === 0) return done;
    const client = this.context.client.resource(resources.storageVersions);
    const nowMs = this.context.clock.nowMs();
    if (statusWithout(storageVersion, gone, nowMs)) {
      await replaceStatus(client, storageVersion, (current) => {
        const status = statusWithout(current, gone, nowMs);
        return status && { ...current, status };
      });
    } else {
      const { uid, resourceVersion } = storageVersion.metadata ?? {};
      const deletion = client.delete(name, { preconditions: { uid, resourceVersion } });
      // Conflict: a server has added itself.
      await ignoring(deletion, isNotFound, isConflict);
    }
    this.context.logger.info({ storageVersion: name, gone: [...gone] }, 'servers removed');
    return done;
  }

  /** Whether the server has an identity lease. */
  private async isPresent(server: string): Promise<boolean> {
    const { systemNamespace } = dialect();
    if (this.leases.lister.get(`${systemNamespace}/${server}`)) return true;
    const leases = this.context.client.resource(resources.leases, systemNamespace);
    const lease = await ignoring(leases.get(server), isNotFound);
    return lease?.metadata?.labels?.[identityLabel()] === identityOfServers();
  }
}

/** The label of identity leases, and its value for API servers. */
function identityLabel(): string {
  return `${dialect().groupDomain}/component`;
}

function identityOfServers(): string {
  return dialect().systemName('apiserver');
}
