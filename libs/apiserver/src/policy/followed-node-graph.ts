/**
 * Keeps the graph of the node authorizer equal to the pods, volumes, attachments and nodes of this
 * replica's store. Changes are collected when they are applied and decoded when a request of a
 * node needs them, so that writes of pods stay fast.
 */
import { mirrorAnnotation } from '@orch/api';
import type { Clock, Histogram, Logger, Metrics } from '@orch/component';
import { FollowedPrefix, objectOf, type PrefixObserver, type ResourceTable } from '@orch/registry';
import { NodeGraph } from '@orch/security';
import type { Entry, StoreReader, WatchEvent } from '@orch/store';
import type { Node, PersistentVolume, Pod } from '@orch/types/core/v1';
import type { VolumeAttachment } from '@orch/types/storage/v1';
import { graphChangesMax, graphChangesPerTurnMax } from '../limits.js';

export interface FollowedNodeGraphDependencies {
  readonly store: StoreReader;
  readonly table: ResourceTable;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly metrics: Metrics;
}

/** In seconds. */
const durationBuckets = [
  0.0001, 0.0002, 0.0004, 0.0008, 0.0016, 0.0032, 0.0064, 0.0128, 0.0256, 0.0512, 0.1024, 0.2048,
];

interface FollowedKind {
  readonly groupHead: string;
  readonly plural: string;
  /** In the names of its operations in metrics. */
  readonly noun: string;
  readonly set: (key: string, entry: Entry) => void;
  readonly delete: (key: string) => void;
}

export class FollowedNodeGraph {
  private readonly graph = new NodeGraph();
  private readonly kinds: readonly ChangesOfKind[];
  private readonly followed: readonly FollowedPrefix[];
  /** By key; undefined: deleted. */
  private readonly pending = new Map<string, { kind: FollowedKind; entry: Entry | undefined }>();
  private isScheduled = false;
  private readonly durations: Histogram<'operation'>;

  constructor(private readonly dependencies: FollowedNodeGraphDependencies) {
    const { store, table, logger, metrics } = dependencies;
    this.durations = metrics.histogram({
      name: 'node_authorizer_graph_actions_duration_seconds',
      help: 'Time to apply a change to the graph of the node authorizer, in seconds',
      labels: ['operation'],
      buckets: durationBuckets,
    });
    const add = (key: string, kind: FollowedKind, entry: Entry | undefined) =>
      this.add(key, kind, entry);
    const kinds = this.followedKinds();
    this.kinds = kinds.map((kind) => new ChangesOfKind(kind, add));
    this.followed = kinds.map(({ groupHead, plural: name }, index) => {
      const prefix = table.stored(groupHead, name)!.keyPrefix;
      return new FollowedPrefix({ store, prefix, name, observer: this.kinds[index]!, logger });
    });
  }

  /** Whether the objects that were stored when this server started have been read. */
  get isSynced(): boolean {
    return this.kinds.every(({ isRead }) => isRead);
  }

  start(): void {
    for (const followed of this.followed) followed.start();
  }

  stop(): void {
    for (const followed of this.followed) followed.stop();
  }

  /** The graph with every change that this server has applied. */
  current(): NodeGraph {
    this.apply(this.pending.size);
    return this.graph;
  }

  private followedKinds(): readonly FollowedKind[] {
    const { graph } = this;
    const deleteSource = (key: string) => graph.deleteSource(key);
    const nameOf = (key: string) => key.slice(key.lastIndexOf('/') + 1);
    return [
      {
        groupHead: 'core',
        plural: 'pods',
        noun: 'Pod',
        set(key, entry) {
          const pod = objectOf(entry) as Pod;
          const isMirror = pod.metadata?.annotations?.[mirrorAnnotation()] !== undefined;
          graph.setPod(key, pod, isMirror);
        },
        delete: deleteSource,
      },
      {
        groupHead: 'core',
        plural: 'nodes',
        noun: 'Node',
        set: (key, entry) => graph.setNode(key, objectOf(entry) as Node),
        delete: deleteSource,
      },
      {
        groupHead: 'storage',
        plural: 'volumeattachments',
        noun: 'VolumeAttachment',
        set: (key, entry) => graph.setAttachment(key, objectOf(entry) as VolumeAttachment),
        delete: deleteSource,
      },
      {
        groupHead: 'core',
        plural: 'persistentvolumes',
        noun: 'PV',
        set: (key, entry) => graph.setVolume(nameOf(key), objectOf(entry) as PersistentVolume),
        delete: (key) => graph.deleteVolume(nameOf(key)),
      },
    ];
  }

  private add(key: string, kind: FollowedKind, entry: Entry | undefined): void {
    this.pending.set(key, { kind, entry });
    if (this.pending.size > graphChangesMax) this.schedule();
  }

  /** Applies pending changes in parts, so that other work of the process is not delayed. */
  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.apply(graphChangesPerTurnMax);
      if (this.pending.size > 0) this.schedule();
    });
  }

  private apply(countMax: number): void {
    const { clock } = this.dependencies;
    let count = 0;
    for (const [key, { kind, entry }] of this.pending) {
      if (count === countMax) return;
      count += 1;
      this.pending.delete(key);
      const startMs = clock.monotonicMs();
      if (entry) kind.set(key, entry);
      else kind.delete(key);
      const operation = `${entry ? 'Add' : 'Delete'}${kind.noun}`;
      this.durations.labels({ operation }).observe((clock.monotonicMs() - startMs) / 1_000);
    }
  }
}

/** The changes of one kind: also the deletions between two reads of everything. */
class ChangesOfKind implements PrefixObserver {
  isRead = false;
  private readonly keys = new Set<string>();

  constructor(
    private readonly kind: FollowedKind,
    private readonly add: (key: string, kind: FollowedKind, entry: Entry | undefined) => void,
  ) {}

  replaced(entries: readonly Entry[]): void {
    const present = new Set(entries.map(({ key }) => key));
    for (const key of this.keys) if (!present.has(key)) this.delete(key);
    for (const entry of entries) this.set(entry);
    this.isRead = true;
  }

  changed(events: readonly WatchEvent[]): void {
    for (const { kind, key, entry } of events) {
      if (kind === 'put') this.set(entry);
      else this.delete(key);
    }
  }

  private set(entry: Entry): void {
    this.keys.add(entry.key);
    this.add(entry.key, this.kind, entry);
  }

  private delete(key: string): void {
    this.keys.delete(key);
    this.add(key, this.kind, undefined);
  }
}
