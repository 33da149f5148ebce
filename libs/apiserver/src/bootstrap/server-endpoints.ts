/**
 * Keeps the endpoints of the API's own service true while servers come and go: each server holds a key
 * with a time to live in the store and renews it; the endpoints are those that are held. A server that
 * ends lets go of its key, one that dies is left out when its time is over.
 */
import { apiEndpoints, type ServerAddress } from '@orch/api';
import { StatusError, setOfFields } from '@orch/apimachinery';
import type { Logger, Timer } from '@orch/component';
import { StoreError } from '@orch/store';
import type { Endpoints } from '@orch/types/core/v1';
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
    await this.write(apiEndpoints(servers), timeoutMs);
  }

  private async write(wanted: Endpoints, timeoutMs: number): Promise<void> {
    const context: WriteContext = systemContext(this.parts, timeoutMs);
    const { name = '', namespace = '' } = wanted.metadata ?? {};
    const served = servedKind(this.parts, 'endpoints');
    const { entry } = await this.parts.store.get(served.resource.key(namespace, name), {
      consistency: { kind: 'any' },
      timeoutMs,
    });
    if (!entry) {
      const { subsets: _later, ...empty } = structuredClone(wanted);
      await ensureObject(this.parts, context, 'endpoints', namespace, empty);
    } else if (sameSubsets(objectOf(entry) as Endpoints, wanted)) return;
    await updateObject(
      this.parts,
      { served, namespace, name },
      {
        strategy: ownEndpointsStrategy,
        uid: '',
        produce(_existing, stored) {
          const endpoints = freshObject(stored) as Endpoints;
          endpoints.subsets = structuredClone(wanted.subsets);
          endpoints.metadata!.labels = {
            ...endpoints.metadata?.labels,
            ...wanted.metadata?.labels,
          };
          endpoints.metadata!.resourceVersion = '';
          return endpoints;
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

function sameSubsets(stored: Endpoints, wanted: Endpoints): boolean {
  return JSON.stringify(shape(stored)) === JSON.stringify(shape(wanted));
}

function shape({ subsets = [] }: Endpoints): unknown {
  return subsets.map(({ addresses = [], ports = [] }) => [
    addresses.map(({ ip }) => ip),
    ports.map(({ name, port, protocol }) => [name, port, protocol]),
  ]);
}
