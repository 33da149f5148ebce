/**
 * Keeps the endpoints of the API's own service, and their slice, up to date while servers start and
 * stop. Each server holds a key with a time to live in the store and renews it; the endpoints are
 * the servers with a key. A server that stops deletes its key; the key of one that dies expires.
 */
import { type ApiObject, apiEndpointSlice, apiEndpoints, type ServerAddress } from '@orch/api';
import { fieldSetOf, StatusError, semanticallyEqual } from '@orch/apimachinery';
import type { Logger, Timer } from '@orch/component';
import { type Entry, type StoreAdministration, StoreError } from '@orch/store';
import type { Endpoints } from '@orch/types/core/v1';
import type { EndpointSlice } from '@orch/types/discovery/v1beta1';
import { serverKeyLifeMs, serverKeyRenewMs, serverKeyRetryMs, serversMax } from '../limits.js';
import { freshObject, objectOf } from '../objects/entry-view.js';
import { type KindName, SystemObjectsWriter } from '../reconciling/system-objects-writer.js';
import type { Registry } from '../store/registry.js';
import type { UpdateStrategy } from '../store/update-strategy.js';

const endpointsKind: KindName = { plural: 'endpoints', groupHead: 'core' };
const slicesKind: KindName = { plural: 'endpointslices', groupHead: 'discovery' };
const keyPrefix = 'servers/addresses/';
const writeTimeoutMs = 5_000;
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
interface Published<T extends ApiObject> {
  readonly kind: KindName;
  readonly wanted: T;
  /** The part that holds the addresses. */
  readonly content: (object: T) => object;
}

export class ServerEndpoints {
  private timer: Timer | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly registry: Registry,
    private readonly administration: StoreAdministration,
    private readonly own: ServerAddress,
    private readonly logger: Logger,
  ) {}

  /** Publishes this server from now on. Rejects when the first round fails. */
  async start(): Promise<void> {
    await this.round();
    this.schedule();
  }

  /** Deletes the key of this server and updates the endpoints, as far as the store allows. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.running;
    // Without a quorum the key cannot be deleted; shutdown does not wait for one.
    if (!this.administration.status().ready) return;
    try {
      await this.registry.rawStore.commit([{ kind: 'delete', key: this.key() }], releaseTimeoutMs);
      await this.publish(releaseTimeoutMs);
    } catch (error) {
      this.report(error, 'this server stays among the endpoints until its key expires');
    }
  }

  private schedule(delayMs = serverKeyRenewMs): void {
    this.timer = this.registry.clock.setTimer(delayMs, () => {
      this.running = this.round()
        .then(
          () => serverKeyRenewMs,
          (error: unknown) => {
            this.report(error, 'endpoints of the API not updated');
            return serverKeyRetryMs;
          },
        )
        .then((nextMs) => {
          if (!this.stopped) this.schedule(nextMs);
        });
    });
  }

  private async round(): Promise<void> {
    await this.registry.rawStore.commit(
      [
        {
          kind: 'put',
          key: this.key(),
          bytes: Buffer.from(JSON.stringify(this.own)),
          timeToLiveMs: serverKeyLifeMs,
        },
      ],
      writeTimeoutMs,
    );
    await this.publish(writeTimeoutMs);
  }

  private async publish(timeoutMs: number): Promise<void> {
    const { entries } = await this.registry.rawStore.list(keyPrefix, {
      consistency: { kind: 'quorum' },
      timeoutMs,
      limit: serversMax,
    });
    const servers = entries.map(({ bytes }) => JSON.parse(bytes.toString()) as ServerAddress);
    // This server's own key has expired: another server publishes the endpoints.
    if (servers.length === 0) return;
    const endpoints = apiEndpoints(servers);
    const slice = apiEndpointSlice(endpoints);
    await Promise.all([
      this.write({ kind: endpointsKind, wanted: endpoints, content: subsetsOf }, timeoutMs),
      this.write({ kind: slicesKind, wanted: slice, content: sliceContent }, timeoutMs),
    ]);
  }

  private async write<T extends ApiObject>(
    { kind, wanted, content }: Published<T>,
    timeoutMs: number,
  ): Promise<void> {
    const writer = new SystemObjectsWriter(this.registry, timeoutMs);
    const { name = '', namespace = '' } = wanted.metadata ?? {};
    const key = { namespace, name };
    const entry = await writer.read(kind, key);
    const wantedContent = content(wanted);
    if (!entry) {
      await writer.ensure(kind, { ...structuredClone(wanted), ...content({} as T) });
    } else if (semanticallyEqual(content(objectOf<T>(entry)), wantedContent)) return;
    const produce = (_existing: ApiObject, stored: Entry) => {
      const object = freshObject<T>(stored);
      Object.assign(object, structuredClone(wantedContent));
      object.metadata!.labels = { ...object.metadata?.labels, ...wanted.metadata?.labels };
      object.metadata!.resourceVersion = '';
      return object;
    };
    const update = { strategy: ownEndpointsStrategy, produce, uid: '' };
    await writer.store(kind).update(key, update, writer.context);
  }

  private key(): string {
    return `${keyPrefix}${this.own.ip}:${this.own.port}`;
  }

  private report(error: unknown, message: string): void {
    if (!(error instanceof StoreError) && !(error instanceof StatusError)) throw error;
    this.logger.warn({ err: error }, message);
  }
}

const subsetsOf = ({ subsets = [] }: Endpoints) => ({ subsets });

const sliceContent = ({ endpoints = [], ports = [] }: EndpointSlice) => ({ endpoints, ports });
