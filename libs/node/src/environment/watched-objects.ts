/**
 * The config maps and secrets of the node's pods. Each has its own watch, because a node may read
 * only the objects of its pods. A watch starts on first use and ends after an idle time.
 */
import { type ApiClient, Informer, type KnownResource, keyOf, resources } from '@orch/client';
import type { Clock, Logger, Timer } from '@orch/component';
import type { ConfigMap, Secret } from '@orch/types/core/v1';
import { objectIdleMs, objectSyncTimeoutMs, watchedObjectCountMax } from '../limits.js';
import { BrokenReference, type ReferencedObjects } from './referenced-objects.js';

interface Watched<T extends ConfigMap | Secret> {
  readonly informer: Informer<T>;
  usedMs: number;
}

export interface WatchedObjectsDependencies {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class WatchedObjects implements ReferencedObjects {
  private readonly configMaps = new Map<string, Watched<ConfigMap>>();
  private readonly secrets = new Map<string, Watched<Secret>>();
  private timer: Timer | undefined;

  constructor(private readonly dependencies: WatchedObjectsDependencies) {
    this.sweepLater();
  }

  configMap(namespace: string, name: string): Promise<ConfigMap | undefined> {
    return this.find(this.configMaps, resources.configMaps, namespace, name);
  }

  secret(namespace: string, name: string): Promise<Secret | undefined> {
    return this.find(this.secrets, resources.secrets, namespace, name);
  }

  async stop(): Promise<void> {
    this.timer?.cancel();
    const all = [...this.configMaps.values(), ...this.secrets.values()];
    await Promise.all(all.map(({ informer }) => informer.stop()));
  }

  private async find<T extends ConfigMap | Secret>(
    objects: Map<string, Watched<T>>,
    resource: KnownResource<T>,
    namespace: string,
    name: string,
  ): Promise<T | undefined> {
    const key = keyOf(namespace, name);
    let watched = objects.get(key);
    if (!watched) {
      if (this.configMaps.size + this.secrets.size >= watchedObjectCountMax) {
        throw new BrokenReference(
          `more than ${watchedObjectCountMax} config maps and secrets are in use`,
        );
      }
      const fieldSelector = `metadata.name=${name}`;
      const informer = new Informer<T>({
        ...this.dependencies,
        resource,
        namespace,
        fieldSelector,
      });
      watched = { informer, usedMs: 0 };
      objects.set(key, watched);
      informer.start();
    }
    watched.usedMs = this.dependencies.clock.monotonicMs();
    try {
      await watched.informer.whenSynced(objectSyncTimeoutMs);
    } catch (cause) {
      const kind = resource.kind.toLowerCase();
      throw new BrokenReference(`${kind} "${name}" cannot be read`, { cause });
    }
    return watched.informer.lister.get(key);
  }

  private sweepLater(): void {
    this.timer = this.dependencies.clock.setTimer(objectIdleMs, () => {
      this.sweep(this.configMaps);
      this.sweep(this.secrets);
      this.sweepLater();
    });
  }

  private sweep<T extends ConfigMap | Secret>(objects: Map<string, Watched<T>>): void {
    const oldestMs = this.dependencies.clock.monotonicMs() - objectIdleMs;
    for (const [key, { informer, usedMs }] of objects) {
      if (usedMs > oldestMs) continue;
      objects.delete(key);
      informer.stop().catch((error: unknown) => {
        this.dependencies.logger.warn({ err: error, object: key }, 'watch could not be stopped');
      });
    }
  }
}
