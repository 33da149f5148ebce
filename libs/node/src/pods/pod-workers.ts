/**
 * The workers of all pods of the node: one for each pod that the API has bound to it, and one for
 * each pod that exists only in the runtime, which is then ended.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiClient } from '@orch/client';
import type { Pod } from '@orch/types/core/v1';
import { podCountMax, podSyncTimeoutMs } from '../limits.js';
import type { PodIdentity } from '../runtimes/container-runtime.js';
import { identityOf, type PodContext } from './pod-context.js';
import { PodWorker } from './pod-worker.js';

export interface PodWorkersDependencies {
  readonly context: PodContext;
  readonly client: ApiClient;
  readonly random: () => number;
}

export class PodWorkers {
  private readonly workers = new Map<string, PodWorker>();

  constructor(private readonly dependencies: PodWorkersDependencies) {}

  update(pod: Pod): void {
    this.worker(identityOf(pod))?.update(pod);
  }

  /** Ends a pod that the API no longer has. */
  remove(pod: Pod): void {
    this.workers.get(identityOf(pod).uid)?.update(undefined);
  }

  sync(uid: string): void {
    this.workers.get(uid)?.sync();
  }

  get podCount(): number {
    return this.workers.size;
  }

  /** Throws if a sync of a pod hangs. */
  checkSyncs(): void {
    for (const worker of this.workers.values()) {
      const { syncDurationMs, currentPod } = worker;
      if (syncDurationMs <= podSyncTimeoutMs) continue;
      const { namespace, name } = currentPod?.metadata ?? {};
      const seconds = Math.round(syncDurationMs / 1_000);
      throw new Error(`the sync of pod ${namespace}/${name} has taken ${seconds} s`);
    }
  }

  pods(): Pod[] {
    return [...this.workers.values()].flatMap(({ currentPod }) => currentPod ?? []);
  }

  /** Returns the pod of this namespace and name. */
  find(namespace: string, name: string): Pod | undefined {
    return this.pods().find(
      ({ metadata }) => metadata?.namespace === namespace && metadata.name === name,
    );
  }

  /** Ends and removes pods in the runtime and on disk that have no worker. */
  async reclaim(): Promise<void> {
    const { context } = this.dependencies;
    const { runtime, logger } = context;
    const existing = [...(await runtime.listSandboxes()), ...(await runtime.listContainers())];
    for (const { pod } of existing) {
      if (this.workers.has(pod.uid)) continue;
      logger.info({ pod: `${pod.namespace}/${pod.name}`, uid: pod.uid }, 'removing orphaned pod');
      this.worker(pod)?.update(undefined);
    }
    for (const uid of readdirSync(context.podsDirectory)) {
      if (!this.workers.has(uid)) {
        rmSync(join(context.podsDirectory, uid), { recursive: true, force: true });
      }
    }
    for (const name of readdirSync(context.logsDirectory)) {
      if (!this.workers.has(name.split('_').at(-1) ?? '')) {
        rmSync(join(context.logsDirectory, name), { recursive: true, force: true });
      }
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.workers.values()].map((worker) => worker.stop()));
  }

  private worker(identity: PodIdentity): PodWorker | undefined {
    const existing = this.workers.get(identity.uid);
    if (existing) return existing;
    const { context } = this.dependencies;
    if (this.workers.size >= podCountMax) {
      context.logger.error({ pod: identity, podCountMax }, 'pod rejected: too many pods');
      return undefined;
    }
    const worker = new PodWorker({
      ...this.dependencies,
      identity,
      onRemoved: () => {
        this.workers.delete(identity.uid);
        context.statuses.forget(identity.uid);
      },
    });
    this.workers.set(identity.uid, worker);
    return worker;
  }
}
