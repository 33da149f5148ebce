/**
 * Reports the objects of one resource by uid. Uses the shared informer of the resource if another
 * controller watches it, otherwise a watch of the metadata alone.
 */
import {
  type ApiObject,
  type DiscoveredResource,
  type Informer,
  objectKey,
  Reflector,
  type ReflectorSink,
} from '@orch/client';
import type { OwnerReference } from '@orch/types/meta/v1';
import type { ControllerContext } from './controller.js';

export interface ObservedObject {
  readonly uid: string;
  readonly resource: DiscoveredResource;
  readonly namespace: string;
  readonly name: string;
  readonly owners: readonly OwnerReference[];
  readonly isBeingDeleted: boolean;
  readonly finalizers: readonly string[];
}

export interface MonitorSink {
  observe(object: ObservedObject): void;
  remove(uid: string): void;
  /** The objects that existed at the start have been observed. */
  synced?(): void;
}

export class ResourceMonitor implements ReflectorSink<ApiObject> {
  private readonly uids = new Map<string, string>();
  private readonly stopping = new AbortController();
  private isSynced = false;

  constructor(
    private readonly context: ControllerContext,
    readonly resource: DiscoveredResource,
    private readonly sink: MonitorSink,
  ) {}

  start(): void {
    const informer = this.context.informers.existing<ApiObject>(this.resource);
    if (informer) this.follow(informer);
    else this.watchMetadata();
  }

  private follow(informer: Informer<ApiObject>): void {
    const removeHandlers = informer.addHandlers({
      onAdd: (object) => this.set(object),
      onUpdate: (object, old) => {
        if (object !== old) this.set(object);
      },
      onDelete: (object) => this.delete(object),
      onSynced: () => this.noteSynced(),
    });
    this.stopping.signal.addEventListener('abort', removeHandlers, { once: true });
  }

  private watchMetadata(): void {
    const { client, clock, logger, random } = this.context;
    const reflector = new Reflector<ApiObject>({
      source: client.derive({ qps: 0 }).metadata(this.resource),
      selection: {},
      sink: this,
      logger: logger.child({ resource: this.resource.plural, group: this.resource.group }),
      clock,
      random,
    });
    void reflector.run(this.stopping.signal);
  }

  hasSynced(): boolean {
    return this.isSynced;
  }

  stop(): void {
    this.stopping.abort(new Error('the monitor is stopped'));
  }

  /** Reports all objects as removed: the server no longer serves the resource. */
  removeAll(): void {
    for (const key of [...this.uids.keys()]) this.drop(key);
  }

  replace(objects: ApiObject[]): void {
    const present = new Set(objects.map(objectKey));
    for (const key of [...this.uids.keys()]) if (!present.has(key)) this.drop(key);
    for (const object of objects) this.set(object);
    this.noteSynced();
  }

  private noteSynced(): void {
    this.isSynced = true;
    this.sink.synced?.();
  }

  set(object: ApiObject): void {
    const key = objectKey(object);
    const {
      uid = '',
      namespace = '',
      name = '',
      ownerReferences = [],
      finalizers = [],
      deletionTimestamp,
    } = object.metadata ?? {};
    const before = this.uids.get(key);
    if (before !== undefined && before !== uid) this.drop(key);
    this.uids.set(key, uid);
    this.sink.observe({
      uid,
      resource: this.resource,
      namespace,
      name,
      owners: ownerReferences,
      isBeingDeleted: Boolean(deletionTimestamp),
      finalizers,
    });
  }

  delete(object: ApiObject): void {
    this.drop(objectKey(object));
  }

  private drop(key: string): void {
    const uid = this.uids.get(key);
    if (uid === undefined) return;
    this.uids.delete(key);
    this.sink.remove(uid);
  }
}
