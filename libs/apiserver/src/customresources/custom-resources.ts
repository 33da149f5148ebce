/**
 * The custom resources of this server: what its own replica of the store has of definitions, and so the
 * same on every server that has applied the same commits. A change takes effect in the moment it is
 * applied. Requests that name what is not known here wait for the replica to catch up first.
 */
import { type CustomKind, customKindOf, customKindSource } from '@orch/api';
import type { Clock, Logger } from '@orch/component';
import type { Entry, Revision, VersionedStore, WatchEvent } from '@orch/store';
import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1beta1';
import { objectOf } from '../registry/entry-view.js';
import { FollowedPrefix, type PrefixObserver } from '../registry/followed-prefix.js';
import type { ServedResource } from '../registry/resource.js';
import type { ResourceTable } from '../registry/resource-table.js';

/** A definition as this replica knows it. */
export interface KnownDefinition {
  readonly key: string;
  /** Of the definition, whatever has changed in it. */
  readonly revision: Revision;
  /** Objects that are newer were written under the kind as it is. */
  readonly sinceRevision: Revision;
  readonly source: string;
  readonly kind: CustomKind;
}

export interface CustomResourcesSettings {
  readonly store: VersionedStore;
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

  constructor(private readonly settings: CustomResourcesSettings) {
    const resource = settings.table.stored('apiextensions', 'customresourcedefinitions');
    if (!resource) throw new Error('definitions of custom resources are not stored here');
    this.keyPrefix = resource.keyPrefix;
    const { store, logger } = settings;
    this.followed = new FollowedPrefix({
      store,
      prefix: this.keyPrefix,
      name: 'definitions',
      observer: this,
      logger,
    });
  }

  /** Every definition that this replica knew of when it was asked is here. */
  get isSynced(): boolean {
    return this.synced;
  }

  /** Told of what is no longer served as it was: watches of it must begin anew. */
  onDropped(listener: (served: readonly ServedResource[]) => void): void {
    this.whenDropped = listener;
  }

  /** By the name of the definition; only those that are served. */
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
    const timeoutMs = Math.max(1, deadlineMs - this.settings.clock.monotonicMs());
    await this.settings.store.get(`${this.keyPrefix}-`, {
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
    const object = objectOf(entry) as CustomResourceDefinition;
    const name = nameOf(entry);
    const source = customKindSource(object);
    const { key, revision } = entry;
    const before = this.known.get(name);
    const kind = customKindOf(object);
    if (!kind) this.remove(name);
    else if (before?.source !== source) {
      this.drop(name);
      this.known.set(name, { key, revision, sinceRevision: revision, source, kind });
      this.settings.table.setCustom(kind);
    } else if (before.kind.isTerminating === kind.isTerminating) {
      this.known.set(name, { ...before, revision });
    } else {
      // Objects look as before: watches go on.
      this.known.set(name, { ...before, revision, kind });
      this.settings.table.setCustom(kind);
    }
  }

  private remove(name: string): void {
    if (this.known.delete(name)) this.drop(name);
  }

  private drop(name: string): void {
    const dropped = this.settings.table.dropCustom(name);
    if (dropped.length > 0) this.whenDropped(dropped);
  }
}

function nameOf({ key }: Entry): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
