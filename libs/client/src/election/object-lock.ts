/** A lock in one object: a Lease, or an Endpoints or ConfigMap with the record as an annotation. */
import { dialect } from '@orch/component';
import type { Lease } from '@orch/types/coordination/v1';
import type { ApiObject } from '../objects.js';
import { isNotFound } from '../rest/api-error.js';
import type { CallOptions, ResourceClient } from '../rest/resource-client.js';
import type { ElectionLock, ElectionRecord, ObservedRecord } from './election-lock.js';
import { withServingUrl } from './serving-url.js';

/** Where an object holds the record. */
export interface RecordFormat<T extends ApiObject> {
  read(object: T): ElectionRecord;
  /** Returns the object with the record; everything else in it stays. */
  write(object: T, record: ElectionRecord): T;
}

export interface ObjectLockOptions<T extends ApiObject> {
  readonly objects: ResourceClient<T>;
  readonly name: string;
  readonly format: RecordFormat<T>;
  /** The URL at which this process serves, written while it leads. */
  readonly servingUrl: string | undefined;
}

export class ObjectLock<T extends ApiObject> implements ElectionLock {
  private object: T | undefined;

  constructor(private readonly options: ObjectLockOptions<T>) {}

  async read(call: CallOptions): Promise<ObservedRecord | undefined> {
    try {
      return this.note(await this.options.objects.get(this.options.name, call));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.object = undefined;
      return undefined;
    }
  }

  async write(record: ElectionRecord, call: CallOptions): Promise<ObservedRecord> {
    const { objects, name, format, servingUrl } = this.options;
    const { object } = this;
    const url = record.holderIdentity === '' ? undefined : servingUrl;
    const metadata = {
      ...object?.metadata,
      name,
      namespace: objects.namespace,
      annotations: withServingUrl(object?.metadata?.annotations, url),
    };
    const desired = format.write({ ...object, metadata } as T, record);
    return this.note(
      await (object ? objects.replace(desired, call) : objects.create(desired, call)),
    );
  }

  private note(object: T): ObservedRecord {
    this.object = object;
    const record = this.options.format.read(object);
    const renewal = `${record.renewTime ?? ''}/${object.metadata?.resourceVersion ?? ''}`;
    return { ...record, renewal };
  }
}

const unheld: ElectionRecord = { holderIdentity: '', leaseDurationSeconds: 0, transitionCount: 0 };

export const leaseFormat: RecordFormat<Lease> = {
  read: ({ spec = {} }) => ({
    holderIdentity: spec.holderIdentity ?? '',
    leaseDurationSeconds: spec.leaseDurationSeconds ?? 0,
    acquireTime: spec.acquireTime,
    renewTime: spec.renewTime,
    transitionCount: spec.leaseTransitions ?? 0,
  }),
  write: (lease, { transitionCount, ...spec }) => ({
    ...lease,
    spec: { ...lease.spec, ...spec, leaseTransitions: transitionCount },
  }),
};

/** The annotation of Endpoints and ConfigMaps that holds the record. */
export function electionRecordKey(): string {
  return dialect().key('leader', 'control-plane.alpha');
}

export const annotationFormat: RecordFormat<ApiObject> = {
  read(object) {
    const text = object.metadata?.annotations?.[electionRecordKey()];
    if (text === undefined) return unheld;
    // A record that cannot be read is an error, so that no process leads beside its holder.
    const stored: unknown = JSON.parse(text);
    if (typeof stored !== 'object' || stored === null) {
      throw new Error(`annotation ${electionRecordKey()} is not an election record: ${text}`);
    }
    const { leaderTransitions = 0, ...record } = stored as Partial<ElectionRecord> & {
      leaderTransitions?: number;
    };
    return { ...unheld, ...record, transitionCount: leaderTransitions };
  },
  write(object, { transitionCount, ...record }) {
    const text = JSON.stringify({
      ...record,
      acquireTime: wholeSeconds(record.acquireTime),
      renewTime: wholeSeconds(record.renewTime),
      leaderTransitions: transitionCount,
    });
    const annotations = { ...object.metadata?.annotations, [electionRecordKey()]: text };
    return { ...object, metadata: { ...object.metadata, annotations } };
  },
};

/** Times in annotations have no fraction: other readers refuse it. */
function wholeSeconds(time: string | undefined): string | undefined {
  return time?.replace(/\.\d+/, '');
}
