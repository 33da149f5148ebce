/**
 * The workers of all pods of the node: one for each pod the API has bound to it, and one for each pod
 * that only the runtime still knows, which is then ended.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RestClient } from '@orch/client';
import type { Pod } from '@orch/types/core/v1';
import { podCountMax } from '../limits.js';
import { identityOf, type PodContext, type PodIdentityFields } from './pod-context.js';
import { PodWorker } from './pod-worker.js';

export interface PodWorkersSettings {
  readonly context: PodContext;
  readonly client: RestClient;
  readonly random: () => number;
}

export class PodWorkers {
  private readonly workers = new Map<string, PodWorker>();

  constructor(private readonly settings: PodWorkersSettings) {}

  update(pod: Pod): void {
    this.worker(identityOf(pod))?.update(pod);
  }

  /** The API does not have the pod any more. */
  remove(pod: Pod): void {
    this.workers.get(identityOf(pod).uid)?.update(undefined);
  }

  sync(uid: string): void {
    this.workers.get(uid)?.sync();
  }

  get podCount(): number {
    return this.workers.size;
  }

  pods(): Pod[] {
    return [...this.workers.values()].flatMap(({ currentPod }) => currentPod ?? []);
  }

  /** By namespace and name. */
  find(namespace: string, name: string): Pod | undefined {
    return this.pods().find(
      ({ metadata }) => metadata?.namespace === namespace && metadata.name === name,
    );
  }

  /** Ends and clears away what the runtime and the disk hold of pods that have no worker. */
  async reclaim(): Promise<void> {
    const { context } = this.settings;
    const { runtime, logger } = context;
    const left = [...(await runtime.listSandboxes()), ...(await runtime.listContainers())];
    for (const { pod } of left) {
      if (this.workers.has(pod.uid)) continue;
      logger.info({ pod: `${pod.namespace}/${pod.name}`, uid: pod.uid }, 'pod of the past removed');
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

  private worker(identity: PodIdentityFields): PodWorker | undefined {
    const existing = this.workers.get(identity.uid);
    if (existing) return existing;
    const { context } = this.settings;
    if (this.workers.size >= podCountMax) {
      context.logger.error({ pod: identity, podCountMax }, 'pod refused: too many pods');
      return undefined;
    }
    const worker = new PodWorker({
      ...this.settings,
      identity,
      onGone: () => {
        this.workers.delete(identity.uid);
        context.statuses.forget(identity.uid);
      },
    });
    this.workers.set(identity.uid, worker);
    return worker;
  }
}
