/**
 * Keeps the endpoints of the API's own service, and their slice, up to date while servers start and
 * stop: they are the servers with a key in the store. A server that stops deletes its key; the key
 * of one that dies expires. Every server publishes soon after a change, also one by a client.
 */
import { type ApiObject, apiEndpointSlice, apiEndpoints, type ServerAddress } from '@orch/api';
import { fieldSetOf, StatusError, semanticallyEqual } from '@orch/apimachinery';
import { dialect, type Logger } from '@orch/component';
import {
  type Entry,
  type ReadConsistency,
  type StoreAdministration,
  StoreError,
} from '@orch/store';
import type { Endpoints } from '@orch/types/core/v1';
import type { EndpointSlice } from '@orch/types/discovery/v1beta1';
import { serversMax } from '../limits.js';
import { freshObject, objectOf } from '../objects/entry-view.js';
import { Reconciler } from '../reconciling/reconciler.js';
import { type KindName, SystemObjectsWriter } from '../reconciling/system-objects-writer.js';
import type { Registry } from '../store/registry.js';
import type { ObjectKey, UpdateStrategy } from '../store/update-strategy.js';
import { ServerKey, serverKeyPrefix } from './server-key.js';

const endpointsKind: KindName = { plural: 'endpoints', groupHead: 'core' };
const slicesKind: KindName = { plural: 'endpointslices', groupHead: 'discovery' };
const publishTimeoutMs = 5_000;
/** At shutdown: the other servers may be stopping, too. */
const releaseTimeoutMs = 1_000;

/** Without validation: clients may not use loopback addresses, servers on one machine do. */
const ownEndpointsStrategy: UpdateStrategy = {
  subresource: '',
  resetFields: fieldSetOf(),
  prepare: () => undefined,
  validate: () => [],
};

/** An object that publishes the addresses of the servers. */
interface Published {
  readonly kind: KindName;
  readonly wanted: ApiObject;
  /** The part that holds the addresses. */
  readonly content: (object: ApiObject) => object;
}

export class ServerEndpoints {
  private readonly key: ServerKey;
  private readonly reconciler: Reconciler;

  constructor(
    private readonly registry: Registry,
    private readonly administration: StoreAdministration,
    own: ServerAddress,
    private readonly logger: Logger,
  ) {
    const { rawStore: store, clock } = registry;
    const objectKey = ({ plural, groupHead }: KindName) =>
      registry.storeOf(plural, groupHead).served.resource.key('default', dialect().word);
    const prefixes = [serverKeyPrefix, objectKey(endpointsKind), objectKey(slicesKind)];
    const round = async () => {
      if (await this.isOutdated()) await this.publish(publishTimeoutMs);
      return undefined;
    };
    this.key = new ServerKey({ store, clock, logger }, own);
    this.reconciler = new Reconciler(
      { store, clock, logger },
      { name: 'endpoints of the API', prefixes, round },
    );
  }

  /** Publishes this server from now on. Rejects when its key or the endpoints cannot be written. */
  async start(): Promise<void> {
    await this.key.start();
    await this.reconciler.start();
  }

  /** Deletes the key of this server and updates the endpoints, as far as the store allows. */
  async stop(): Promise<void> {
    await this.reconciler.stop();
    await this.key.stop();
    // Without a quorum the key cannot be deleted; shutdown does not wait for one.
    if (!this.administration.status().ready) return;
    try {
      await this.key.delete(releaseTimeoutMs);
      await this.publish(releaseTimeoutMs);
    } catch (error) {
      if (!(error instanceof StoreError) && !(error instanceof StatusError)) throw error;
      this.logger.warn(
        { err: error },
        'this server stays among the endpoints until its key expires',
      );
    }
  }

  /** As far as this server has in memory: at rest, a round sends nothing to the other servers. */
  private async isOutdated(): Promise<boolean> {
    return (await this.outdated({ kind: 'any' }, publishTimeoutMs)).length > 0;
  }

  private async publish(timeoutMs: number): Promise<void> {
    const outdated = await this.outdated({ kind: 'quorum' }, timeoutMs);
    await Promise.all(outdated.map((published) => this.write(published, timeoutMs)));
  }

  /** The objects that do not show the servers which have a key. */
  private async outdated(
    consistency: ReadConsistency,
    timeoutMs: number,
  ): Promise<readonly Published[]> {
    const { entries } = await this.registry.rawStore.list(serverKeyPrefix, {
      consistency,
      timeoutMs,
      limit: serversMax,
    });
    const servers = entries.map(({ bytes }) => JSON.parse(bytes.toString()) as ServerAddress);
    // This server's own key has expired: another server publishes the endpoints.
    if (servers.length === 0) return [];
    const endpoints = apiEndpoints(servers);
    const slice = apiEndpointSlice(endpoints);
    const all: readonly Published[] = [
      { kind: endpointsKind, wanted: endpoints, content: subsetsOf },
      { kind: slicesKind, wanted: slice, content: sliceContent },
    ];
    const writer = new SystemObjectsWriter(this.registry, timeoutMs);
    const current = await Promise.all(all.map((published) => isCurrent(writer, published)));
    return all.filter((_published, index) => !current[index]);
  }

  private async write({ kind, wanted, content }: Published, timeoutMs: number): Promise<void> {
    const writer = new SystemObjectsWriter(this.registry, timeoutMs);
    if (!(await writer.read(kind, keyOf(wanted)))) {
      await writer.ensure(kind, { ...structuredClone(wanted), ...content({}) });
    }
    const produce = (_existing: ApiObject, stored: Entry) => {
      const object = freshObject<ApiObject>(stored);
      Object.assign(object, structuredClone(content(wanted)));
      object.metadata!.labels = { ...object.metadata?.labels, ...wanted.metadata?.labels };
      object.metadata!.resourceVersion = '';
      return object;
    };
    const update = { strategy: ownEndpointsStrategy, produce, uid: '' };
    await writer.store(kind).update(keyOf(wanted), update, writer.context);
  }
}

async function isCurrent(
  writer: SystemObjectsWriter,
  { kind, wanted, content }: Published,
): Promise<boolean> {
  const entry = await writer.read(kind, keyOf(wanted));
  return entry !== undefined && semanticallyEqual(content(objectOf(entry)), content(wanted));
}

const keyOf = ({ metadata: { name = '', namespace = '' } = {} }: ApiObject): ObjectKey => ({
  namespace,
  name,
});

const subsetsOf = ({ subsets = [] }: Endpoints) => ({ subsets });

const sliceContent = ({ endpoints = [], ports = [] }: Partial<EndpointSlice>) => ({
  endpoints,
  ports,
});
