/**
 * The health checks of the server, in the upstream order. Without a quorum the server is live, so
 * that it is not restarted, but not ready; the check of the store reports the reason.
 */

import {
  BootChecks,
  type Clock,
  HealthChecks,
  type HealthEndpoint,
  logCheck,
  pingCheck,
} from '@orch/component';
import type { EncryptionConfiguration } from '@orch/security';
import { StoreError, type VersionedStore } from '@orch/store';
import type { ApiServerContext } from '../context/api-server-context.js';
import { type BootDependencies, type BootStep, bootSteps } from './boot-steps.js';

export interface HealthDependencies extends BootDependencies {
  readonly context: Pick<ApiServerContext, 'lifecycle' | 'options'> & {
    readonly settings: Pick<ApiServerContext['settings'], 'encryption'>;
  };
  readonly store: Pick<VersionedStore, 'status' | 'get'>;
  readonly clock: Clock;
}

const memoryReadTimeoutMs = 4_000;

export function serverHealth(dependencies: HealthDependencies): HealthChecks {
  const { context, store, clock } = dependencies;
  const { lifecycle, options } = context;
  const health = new HealthChecks(clock);
  health.add(pingCheck);
  health.add(logCheck);
  addStoreCheck(health, store);
  addKeyServiceChecks(health, context.settings.encryption);
  const steps = bootSteps(dependencies);
  health.add(informerCheck(steps), ['readyz']);
  const boot = new BootChecks(health, {
    graceMs: options.livezGraceMs,
    isBlocked: () => !store.status().ready,
    clock,
  });
  for (const { name, missing } of steps) boot.add(name, missing);
  health.add(
    {
      name: 'shutdown',
      run() {
        if (lifecycle.stopping.aborted) throw new Error('the process is stopping');
      },
    },
    ['readyz'],
  );
  return health;
}

/** The store of probes that were written for an external one has the name `etcd`. */
function addStoreCheck(health: HealthChecks, store: HealthDependencies['store']): void {
  const add = (endpoints: readonly HealthEndpoint[], run: () => Promise<void> | void) =>
    health.add({ name: 'etcd', aliases: ['store'], run }, endpoints);
  add(['healthz', 'readyz'], () => {
    const { ready, reason } = store.status();
    if (!ready) throw new Error(reason ?? 'the store is not ready');
  });
  add(['livez'], () => checkMemory(store));
}

/**
 * One check for each key management service of the encryption configuration, by its place there. A
 * server whose service is down is live: a restart does not bring the service back. A reload of the
 * configuration may add services; the check of one that was removed passes.
 */
function addKeyServiceChecks(
  health: HealthChecks,
  encryption: HealthDependencies['context']['settings']['encryption'],
): void {
  let services: EncryptionConfiguration['serviceHealth'] = [];
  let addedCount = 0;
  encryption?.follow(({ serviceHealth }) => {
    services = serviceHealth;
    for (; addedCount < services.length; addedCount += 1) {
      const index = addedCount;
      const run = () => services[index]?.check();
      health.add({ name: `kms-provider-${index}`, run }, ['healthz', 'readyz']);
    }
  });
}

/** Rejects if this replica does not serve reads, unless it waits for the state of the leader. */
async function checkMemory(store: HealthDependencies['store']): Promise<void> {
  try {
    await store.get('health', { consistency: { kind: 'any' }, timeoutMs: memoryReadTimeoutMs });
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'Unavailable') throw error;
  }
}

/** Names every step that waits for a first read. */
function informerCheck(steps: readonly BootStep[]) {
  return {
    name: 'informer-sync',
    run() {
      const pending = steps
        .filter(({ isRead }) => isRead)
        .flatMap(({ missing }) => missing() ?? []);
      if (pending.length > 0) throw new Error(pending.join('; '));
    },
  };
}
