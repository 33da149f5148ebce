/**
 * The custom resources of this server: the definitions in its own replica of the store, the same on
 * every server that has applied the same commits. A change takes effect when it is applied.
 * Requests for an unknown resource wait for the replica to catch up first.
 */
import { type CustomKind, customKindOf, customKindSource } from '@orch/api';
import type { Clock, Logger } from '@orch/component';
import type { Entry, Revision, StoreReader, WatchEvent } from '@orch/store';
import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1beta1';
import { objectOf } from '../objects/entry-view.js';
import { FollowedPrefix, type PrefixObserver } from '../storage/followed-prefix.js';
import type { ServedResource } from '../table/resource.js';
import type { ResourceTable } from '../table/resource-table.js';

/** A definition as this replica knows it. */
export interface KnownDefinition {
  readonly key: string;
  /** Revision of the latest change of the definition. */
  readonly revision: Revision;
  /** Objects that are newer were written under the kind as it is. */
  readonly sinceRevision: Revision;
  readonly source: string;
  readonly kind: CustomKind;
}

export interface CustomResourcesDependencies {
  readonly store: StoreReader;
  readonly table: ResourceTable;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class CustomResources implements PrefixObserver {
  private readonly known = new Map<string, KnownDefinition>();
  private readonly keyPrefix: string;
  private readonly followed: FollowedPrefix;
  private synced = false;
  private whenDropped: (served: readonly ServedResource[]) => void = () => undefined;

  constructor(private readonly dependencies: CustomResourcesDependencies) {
    const resource = dependencies.table.stored('apiextensions', 'customresourcedefinitions');
    if (!resource) throw new Error('definitions of custom resources are not stored here');
    this.keyPrefix = resource.keyPrefix;
    const { store, logger } = dependencies;
    this.followed = new FollowedPrefix({
      store,
      prefix: this.keyPrefix,
      name: 'definitions',
      observer: this,
      logger,
    });
  }

  /** Every definition that this replica knew of at the time of the call is served. */
  get isSynced(): boolean {
    return this.synced;
  }

  /**
   * Notifies of resources that have changed or are no longer served: their watches must restart.
   */
  onDropped(listener: (served: readonly ServedResource[]) => void): void {
    this.whenDropped = listener;
  }

  /** The served definition of that name. */
  definition(name: string): KnownDefinition | undefined {
    return this.known.get(name);
  }

  /** Follows the definitions that this replica knows of until `stop`. */
  start(): void {
    this.followed.start();
  }

  stop(): void {
    this.followed.stop();
  }

  /** Waits until this server knows all definitions that were committed before the call. */
  async catchUp(deadlineMs: number): Promise<void> {
    const timeoutMs = Math.max(1, deadlineMs - this.dependencies.clock.monotonicMs());
    await this.dependencies.store.get(`${this.keyPrefix}-`, {
      consistency: { kind: 'quorum' },
      timeoutMs,
    });
  }

  replaced(entries: readonly Entry[]): void {
    const names = new Set(entries.map(nameOf));
    for (const name of [...this.known.keys()]) if (!names.has(name)) this.remove(name);
    for (const entry of entries) this.put(entry);
    this.synced = true;
  }

  changed(events: readonly WatchEvent[]): void {
    for (const { kind, entry } of events) {
      if (kind === 'put') this.put(entry);
      else this.remove(nameOf(entry));
    }
  }

  private put(entry: Entry): void {
    const object = objectOf<CustomResourceDefinition>(entry);
    const name = nameOf(entry);
    const source = customKindSource(object);
    const { key, revision } = entry;
    const before = this.known.get(name);
    const kind = customKindOf(object);
    if (!kind) this.remove(name);
    else if (before?.source !== source) {
      this.drop(name);
      this.known.set(name, { key, revision, sinceRevision: revision, source, kind });
      this.dependencies.table.setCustom(kind);
    } else if (before.kind.isTerminating === kind.isTerminating) {
      this.known.set(name, { ...before, revision });
    } else {
      // The form of the objects is unchanged, so watches continue.
      this.known.set(name, { ...before, revision, kind });
      this.dependencies.table.setCustom(kind);
    }
  }

  private remove(name: string): void {
    if (this.known.delete(name)) this.drop(name);
  }

  private drop(name: string): void {
    const dropped = this.dependencies.table.dropCustom(name);
    if (dropped.length > 0) this.whenDropped(dropped);
  }
}

function nameOf({ key }: Entry): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
