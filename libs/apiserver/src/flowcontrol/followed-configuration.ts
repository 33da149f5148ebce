/**
 * The flow schemas and priority levels of this replica's store, told to flow control at every change.
 * Until both have been read, what counts is what counted before.
 */
import type { Logger } from '@orch/component';
import type { Entry, VersionedStore, WatchEvent } from '@orch/store';
import type {
  FlowSchema,
  PriorityLevelConfiguration,
} from '@orch/types/flowcontrol.apiserver/v1beta1';
import { objectOf } from '../registry/entry-view.js';
import { FollowedPrefix, type PrefixObserver } from '../registry/followed-prefix.js';
import type { ResourceTable } from '../registry/resource-table.js';
import type { FlowControlObjects } from './configuration.js';

export interface FollowedConfigurationSettings {
  readonly store: VersionedStore;
  readonly table: ResourceTable;
  readonly logger: Logger;
  readonly configure: (objects: FlowControlObjects) => void;
}

const groupHead = 'flowcontrol.apiserver';

export class FollowedConfiguration {
  private readonly schemas: FollowedKind<FlowSchema>;
  private readonly levels: FollowedKind<PriorityLevelConfiguration>;
  private readonly followed: readonly FollowedPrefix[];

  constructor({ store, table, logger, configure }: FollowedConfigurationSettings) {
    const tell = () => {
      const { schemas, levels } = this;
      if (!schemas.isRead || !levels.isRead) return;
      configure({ schemas: schemas.objects(), levels: levels.objects() });
    };
    this.schemas = new FollowedKind(tell);
    this.levels = new FollowedKind(tell);
    const follow = (plural: string, name: string, observer: PrefixObserver) => {
      const prefix = table.stored(groupHead, plural)!.keyPrefix;
      return new FollowedPrefix({ store, prefix, name, observer, logger });
    };
    this.followed = [
      follow('prioritylevelconfigurations', 'priority levels', this.levels),
      follow('flowschemas', 'flow schemas', this.schemas),
    ];
  }

  start(): void {
    for (const one of this.followed) one.start();
  }

  stop(): void {
    for (const one of this.followed) one.stop();
  }
}

class FollowedKind<T extends object> implements PrefixObserver {
  isRead = false;
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly tell: () => void) {}

  objects(): T[] {
    return [...this.entries.values()].map((entry) => objectOf(entry) as T);
  }

  replaced(entries: readonly Entry[]): void {
    this.entries.clear();
    for (const entry of entries) this.entries.set(entry.key, entry);
    this.isRead = true;
    this.tell();
  }

  changed(events: readonly WatchEvent[]): void {
    for (const { kind, key, entry } of events) {
      if (kind === 'put') this.entries.set(key, entry);
      else this.entries.delete(key);
    }
    this.tell();
  }
}
