/**
 * The hooks of all configurations of a kind, as this replica's store has them: by name of the
 * configuration, then in its order. Requests wait for the first read.
 */
import { timeout } from '@orch/apimachinery';
import type { Clock, Logger } from '@orch/component';
import { FollowedPrefix, objectOf, type PrefixObserver, type ResourceTable } from '@orch/registry';
import type { Entry, StoreReader, WatchEvent } from '@orch/store';
import { compileHooks, type Hook, type WebhookConfiguration } from './hook.js';
import { HookSet } from './hook-set.js';

export interface FollowedHooksDependencies {
  readonly store: StoreReader;
  readonly table: ResourceTable;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The plural of the configurations. */
  readonly plural: string;
}

export class FollowedHooks implements PrefixObserver {
  /** Undefined until the first read. */
  current: HookSet | undefined;
  private readonly compiled = new Map<string, readonly Hook[]>();
  private readonly followed: FollowedPrefix;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly dependencies: FollowedHooksDependencies) {
    const { store, table, logger, plural: name } = dependencies;
    const configurations = table.stored('admissionregistration', name);
    if (!configurations) throw new Error(`${name} are not registered`);
    const prefix = configurations.keyPrefix;
    this.followed = new FollowedPrefix({ store, prefix, name, observer: this, logger });
  }

  start(): void {
    this.followed.start();
  }

  stop(): void {
    this.followed.stop();
  }

  /** Rejects with 504 if the first read does not end before the deadline. */
  async whenRead(deadlineMs: number): Promise<HookSet> {
    const { clock } = this.dependencies;
    if (!this.current) {
      await new Promise<void>((resolve, reject) => {
        const leftMs = Math.max(0, deadlineMs - clock.monotonicMs());
        const timer = clock.setTimer(leftMs, () =>
          reject(timeout('the webhook configurations are not read yet')),
        );
        this.waiting.push(() => {
          timer.cancel();
          resolve();
        });
      });
    }
    return this.current ?? HookSet.empty;
  }

  replaced(entries: readonly Entry[]): void {
    this.compiled.clear();
    for (const entry of entries) this.compile(entry);
    this.publish();
    for (const resume of this.waiting.splice(0)) resume();
  }

  changed(events: readonly WatchEvent[]): void {
    for (const { kind, entry } of events) {
      if (kind === 'put') this.compile(entry);
      else this.compiled.delete(entry.key);
    }
    this.publish();
  }

  private compile(entry: Entry): void {
    this.compiled.set(entry.key, compileHooks(objectOf<WebhookConfiguration>(entry)));
  }

  /** Keys of a prefix sort as the names. */
  private publish(): void {
    const byName = [...this.compiled].sort(([a], [b]) => (a < b ? -1 : 1));
    this.current = new HookSet(byName.flatMap(([, hooks]) => hooks));
  }
}
