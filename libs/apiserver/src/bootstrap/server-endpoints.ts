/**
 * Keeps the endpoints of the API's own service, and their slice, true while servers come and go: each server holds a key
 * with a time to live in the store and renews it; the endpoints are those that are held. A server that
 * ends lets go of its key, one that dies is left out when its time is over.
 */
import { type ApiObject, apiEndpointSlice, apiEndpoints, type ServerAddress } from '@orch/api';
import { StatusError, semanticallyEqual, setOfFields } from '@orch/apimachinery';
import type { Logger, Timer } from '@orch/component';
import { StoreError } from '@orch/store';
import type { Endpoints } from '@orch/types/core/v1';
import type { EndpointSlice } from '@orch/types/discovery/v1beta1';
import { serverKeyLifeMs, serverKeyRenewMs, serversMax } from '../limits.js';
import { freshObject, objectOf } from '../registry/entry-view.js';
import type { RegistryParts, WriteContext } from '../registry/registry-parts.js';
import { type UpdateStrategy, updateObject } from '../registry/update.js';
import { ensureObject, servedKind, systemContext } from './ensure-object.js';

const keyPrefix = 'servers/addresses/';
const writeTimeoutMs = 5_000;
/** At the end: the others may be ending, too. */
const releaseTimeoutMs = 1_000;

/** Users may not lead services to loopback addresses; servers may, where everything is on one machine. */
const ownEndpointsStrategy: UpdateStrategy = {
  subresource: '',
  resetFields: setOfFields(),
  prepare: () => undefined,
  validate: () => [],
};

/** An object that says where the servers are. */
interface Published<T extends ApiObject> {
  readonly plural: string;
  readonly groupHead?: string;
  readonly wanted: T;
  /** What of it says so; without servers when nothing is said. */
  readonly content: (object: T) => object;
}

export class ServerEndpoints {
  private timer: Timer | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly parts: RegistryParts,
    private readonly own: ServerAddress,
    private readonly logger: Logger,
  ) {}

  /** Takes part from now on. Rejects when the first round fails. */
  async start(): Promise<void> {
    await this.round();
    this.schedule();
  }

  /** Lets go of this server's key and brings the endpoints up to date, as far as the store allows. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.running;
    // Without a quorum nothing can be let go of, and the end need not wait for one.
    if (!this.parts.store.status().ready) return;
    try {
      await this.parts.store.commit([{ kind: 'delete', key: this.key() }], releaseTimeoutMs);
      await this.publish(releaseTimeoutMs);
    } catch (error) {
      this.report(error, 'this server stays among the endpoints until its time is over');
    }
  }

  private schedule(): void {
    this.timer = this.parts.clock.setTimer(serverKeyRenewMs, () => {
      this.running = this.round()
        .catch((error: unknown) =>
          this.report(error, 'endpoints of the API not brought up to date'),
        )
        .then(() => {
          if (!this.stopped) this.schedule();
        });
    });
  }

  private async round(): Promise<void> {
    await this.parts.store.commit(
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
    const { entries } = await this.parts.store.list(keyPrefix, {
      consistency: { kind: 'quorum' },
      timeoutMs,
      limit: serversMax,
    });
    const servers = entries.map(({ bytes }) => JSON.parse(bytes.toString()) as ServerAddress);
    // An API without servers is nobody's to tell.
    if (servers.length === 0) return;
    const endpoints = apiEndpoints(servers);
    await Promise.all([
      this.write({ plural: 'endpoints', wanted: endpoints, content: subsetsOf }, timeoutMs),
      this.write(
        {
          plural: 'endpointslices',
          groupHead: 'discovery',
          wanted: apiEndpointSlice(endpoints),
          content: sliceContent,
        },
        timeoutMs,
      ),
    ]);
  }

  private async write<T extends ApiObject>(
    { plural, groupHead, wanted, content }: Published<T>,
    timeoutMs: number,
  ): Promise<void> {
    const context: WriteContext = systemContext(this.parts, timeoutMs);
    const { name = '', namespace = '' } = wanted.metadata ?? {};
    const served = servedKind(this.parts, plural, groupHead);
    const { entry } = await this.parts.store.get(served.resource.key(namespace, name), {
      consistency: { kind: 'any' },
      timeoutMs,
    });
    const wantedContent = content(wanted);
    if (!entry) {
      const empty = { ...structuredClone(wanted), ...content({} as T) };
      await ensureObject(this.parts, context, plural, namespace, empty, groupHead);
    } else if (semanticallyEqual(content(objectOf(entry) as T), wantedContent)) return;
    await updateObject(
      this.parts,
      { served, namespace, name },
      {
        strategy: ownEndpointsStrategy,
        uid: '',
        produce(_existing, stored) {
          const object = freshObject(stored) as T;
          Object.assign(object, structuredClone(wantedContent));
          object.metadata!.labels = { ...object.metadata?.labels, ...wanted.metadata?.labels };
          object.metadata!.resourceVersion = '';
          return object;
        },
      },
      context,
    );
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
