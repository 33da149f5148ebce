/** What this server says of its own health, check by check. */
import type { ClaimIndex, CustomResources } from '@orch/apiserver';
import { HealthChecks, type Lifecycle, pingCheck } from '@orch/component';
import type { VersionedStore } from '@orch/store';

export interface HealthParts {
  readonly store: VersionedStore;
  readonly claims: ClaimIndex;
  readonly customResources: CustomResources;
  readonly lifecycle: Lifecycle;
  readonly bootstrap: { readonly done: boolean };
}

/**
 * Without a quorum the server lives, so that nobody restarts it for that, but is not ready; the reason is
 * told by the check of the store. A store that is lost for good ends the process, so that the check of
 * the living need not ask it.
 */
export function serverHealth(parts: HealthParts): HealthChecks {
  const { store, claims, customResources, lifecycle, bootstrap } = parts;
  const health = new HealthChecks();
  health.add(pingCheck);
  health.add({ name: 'log', run: () => undefined });
  // Existing probes ask for the store's check under either name.
  for (const name of ['etcd', 'store']) {
    health.add({ name, run: () => checkReady(store) }, ['healthz', 'readyz']);
    health.add({ name, run: () => undefined }, ['livez']);
  }
  health.add(
    {
      name: 'informer-sync',
      run() {
        if (!claims.isSynced) throw new Error('what is allocated has not been read yet');
      },
    },
    ['readyz'],
  );
  health.add(
    {
      name: 'poststarthook/crd-informer-synced',
      run() {
        if (!customResources.isSynced) {
          throw new Error('definitions of custom resources have not been read yet');
        }
      },
    },
    ['readyz'],
  );
  health.add(
    {
      name: 'poststarthook/bootstrap-controller',
      run() {
        if (!bootstrap.done) throw new Error('what a cluster begins with has not been made yet');
      },
    },
    ['readyz'],
  );
  health.add(
    {
      name: 'shutdown',
      run() {
        if (lifecycle.stopping.aborted) throw new Error('the process is ending');
      },
    },
    ['readyz'],
  );
  return health;
}

function checkReady(store: VersionedStore): void {
  const { ready, reason } = store.status();
  if (!ready) throw new Error(reason ?? 'the store is not ready');
}
