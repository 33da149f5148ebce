/**
 * Configures flow control with the flow schemas and priority levels of this replica's store at
 * every change. The previous configuration applies until both have been read.
 */
import type { Logger } from '@orch/component';
import type { ResourceTable } from '@orch/registry';
import { FollowedPrefix, objectOf, type PrefixObserver } from '@orch/registry';
import type { Entry, StoreReader, WatchEvent } from '@orch/store';
import type {
  FlowSchema,
  PriorityLevelConfiguration,
} from '@orch/types/flowcontrol.apiserver/v1beta1';
import type { FlowControlObjects } from './configuration.js';

export interface FollowedConfigurationDependencies {
  readonly store: StoreReader;
  readonly table: ResourceTable;
  readonly logger: Logger;
  readonly configure: (objects: FlowControlObjects) => void;
}

const groupHead = 'flowcontrol.apiserver';

export class FollowedConfiguration {
  private readonly schemas: FollowedKind<FlowSchema>;
  private readonly levels: FollowedKind<PriorityLevelConfiguration>;
  private readonly followed: readonly FollowedPrefix[];

  constructor({ store, table, logger, configure }: FollowedConfigurationDependencies) {
    const update = () => {
      const { schemas, levels } = this;
      if (!this.isSynced) return;
      configure({ schemas: schemas.objects(), levels: levels.objects() });
    };
    this.schemas = new FollowedKind(update);
    this.levels = new FollowedKind(update);
    const follow = (plural: string, name: string, observer: PrefixObserver) => {
      const prefix = table.stored(groupHead, plural)!.keyPrefix;
      return new FollowedPrefix({ store, prefix, name, observer, logger });
    };
    this.followed = [
      follow('prioritylevelconfigurations', 'priority levels', this.levels),
      follow('flowschemas', 'flow schemas', this.schemas),
    ];
  }

  /** Whether the stored configuration applies. */
  get isSynced(): boolean {
    return this.schemas.isRead && this.levels.isRead;
  }

  start(): void {
    for (const kind of this.followed) kind.start();
  }

  stop(): void {
    for (const kind of this.followed) kind.stop();
  }
}

class FollowedKind<T extends object> implements PrefixObserver {
  isRead = false;
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly onChange: () => void) {}

  objects(): T[] {
    return [...this.entries.values()].map((entry) => objectOf<T>(entry));
  }

  replaced(entries: readonly Entry[]): void {
    this.entries.clear();
    for (const entry of entries) this.entries.set(entry.key, entry);
    this.isRead = true;
    this.onChange();
  }

  changed(events: readonly WatchEvent[]): void {
    for (const { kind, key, entry } of events) {
      if (kind === 'put') this.entries.set(key, entry);
      else this.entries.delete(key);
    }
    this.onChange();
  }
}
