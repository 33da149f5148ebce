/**
 * The configurations in the log, each with its index. The newest is in effect as soon as it is in
 * the log, committed or not; when its entry is truncated, the one before is in effect again.
 */

import type { InitialState } from '../core-options.js';
import { invariant } from '../invariant.js';
import type { Configuration, LogIndex, MemberId } from '../types.js';

export class Configurations {
  private readonly list: { readonly index: LogIndex; readonly configuration: Configuration }[];
  private selfSeen: boolean;

  constructor(
    private readonly self: MemberId,
    initial: InitialState['configurations'],
  ) {
    invariant(initial.length > 0, 'there is no configuration to start from');
    this.list = [...initial];
    this.selfSeen = initial.some(({ configuration }) => isMember(configuration, self));
    for (let at = 1; at < initial.length; at += 1) {
      invariant(initial[at]!.index > initial[at - 1]!.index, 'configurations are out of order');
    }
  }

  /** The one in effect. */
  get current(): Configuration {
    return this.list.at(-1)!.configuration;
  }

  /** Index of its entry. */
  get currentIndex(): LogIndex {
    return this.list.at(-1)!.index;
  }

  /**
   * This replica was in a configuration once: absence from a later one means that it was removed.
   */
  get seenSelf(): boolean {
    return this.selfSeen;
  }

  /** As of `index`; undefined before the log's start. */
  at(index: LogIndex): Configuration | undefined {
    for (let at = this.list.length - 1; at >= 0; at -= 1) {
      if (this.list[at]!.index <= index) return this.list[at]!.configuration;
    }
    return undefined;
  }

  append(index: LogIndex, configuration: Configuration): void {
    invariant(index > this.currentIndex, `configuration ${index} appended out of order`);
    invariant(configuration.voters.length > 0, `configuration ${index} has no voters`);
    this.list.push({ index, configuration });
    this.selfSeen ||= isMember(configuration, this.self);
  }

  /** All of them, oldest first. */
  get all(): readonly { readonly index: LogIndex; readonly configuration: Configuration }[] {
    return this.list;
  }

  truncateFrom(index: LogIndex): void {
    while (this.list.length > 1 && this.currentIndex >= index) this.list.pop();
    invariant(this.currentIndex < index, `no configuration is left before ${index}`);
  }

  /** The log starts after `index`: only the newest configuration up to there is still needed. */
  compactTo(index: LogIndex): void {
    let keepFrom = 0;
    while (keepFrom + 1 < this.list.length && this.list[keepFrom + 1]!.index <= index) {
      keepFrom += 1;
    }
    this.list.splice(0, keepFrom);
    invariant(this.list.length > 0, 'no configuration is left after compaction');
    invariant(
      this.list.length === 1 || this.list[1]!.index > index,
      'a compacted configuration is left',
    );
  }

  /**
   * Everything up to `index` is replaced by `configuration`; what comes after stays if `keepLater`.
   */
  replaceUpTo(index: LogIndex, configuration: Configuration, keepLater: boolean): void {
    invariant(configuration.voters.length > 0, 'the configuration of a snapshot has no voters');
    const later = keepLater ? this.list.filter((item) => item.index > index) : [];
    this.list.splice(0, this.list.length, { index, configuration }, ...later);
    invariant(this.list[0]!.index === index, 'the configuration of a snapshot is not the oldest');
    invariant(this.currentIndex >= index, 'a configuration in effect is older than its snapshot');
    this.selfSeen ||= isMember(configuration, this.self);
  }
}

export function isMember(configuration: Configuration, id: MemberId): boolean {
  return isVoter(configuration, id) || configuration.learners.some((member) => member.id === id);
}

/** Has a say in either half. */
export function isVoter({ voters, outgoing }: Configuration, id: MemberId): boolean {
  return (
    voters.some((member) => member.id === id) ||
    (outgoing?.some((member) => member.id === id) ?? false)
  );
}

/** All members, each once: voters, outgoing voters, learners. */
export function memberIds({ voters, learners, outgoing }: Configuration): Set<MemberId> {
  const ids = new Set<MemberId>();
  for (const list of [voters, outgoing ?? [], learners]) for (const { id } of list) ids.add(id);
  return ids;
}
