/**
 * One aggregated API server: where it is, whether it is available, its connections and how many
 * requests to it are in flight. Changes of its registration and of the front-proxy certificate
 * apply to the next request.
 */
import type { Agent } from 'node:https';
import { conditionOf, tooManyRequests } from '@orch/apimachinery';
import type { Dial, KeyPairPem } from '@orch/component';
import type { ServiceResolver } from '@orch/security';
import type { APIService } from '@orch/types/apiregistration/v1';
import { aggregatedRequestsMax, aggregatedStreamsMax } from '../limits.js';
import { connectionPool, drainPool } from './server-connection.js';

export interface AggregatedServerDependencies {
  readonly resolve: ServiceResolver;
  readonly isIdentityHeader: (name: string) => boolean;
  /** The front-proxy certificate now; undefined: none. */
  readonly certificate: () => KeyPairPem | undefined;
  /** Absent: connections are direct. */
  readonly dial?: Dial | undefined;
}

type Spec = NonNullable<APIService['spec']>;
const servicePort = 443;
const retryAfterSeconds = 1;

export class AggregatedServer {
  readonly isIdentityHeader: (name: string) => boolean;
  private readonly spec: Spec;
  private readonly pools = new Map<boolean, Agent>();
  private requestCount = 0;
  private streamCount = 0;

  constructor(
    private object: APIService,
    private readonly dependencies: AggregatedServerDependencies,
  ) {
    this.spec = object.spec!;
    this.isIdentityHeader = dependencies.isIdentityHeader;
  }

  get name(): string {
    return this.object.metadata?.name ?? '';
  }

  get group(): string {
    return this.spec.group ?? '';
  }

  get version(): string {
    return this.spec.version ?? '';
  }

  get isAvailable(): boolean {
    return conditionOf(this.object.status?.conditions, 'Available')?.status === 'True';
  }

  /** The path of its discovery document. */
  get discoveryPath(): string {
    return this.group === '' ? `/api/${this.version}` : `/apis/${this.group}/${this.version}`;
  }

  /** Takes a new state of the registration. Returns false if it needs other connections. */
  update(object: APIService): boolean {
    if (JSON.stringify(object.spec) !== JSON.stringify(this.spec)) return false;
    this.object = object;
    return true;
  }

  /** The address of an endpoint. Rejects with ServiceAddressError, or StoreError. */
  resolve(timeoutMs: number): Promise<{ readonly host: string; readonly port: number }> {
    const { namespace = '', name = '', port = servicePort } = this.spec.service ?? {};
    return this.dependencies.resolve({ namespace, name, port }, timeoutMs);
  }

  /**
   * The pool for the next request; `verify`: whether the server's certificate must be valid. Throws
   * an Error if the CA bundle or the front-proxy certificate cannot be used.
   */
  pool(verify: boolean): Agent {
    let pool = this.pools.get(verify);
    if (!pool) {
      const { namespace = '', name = '' } = this.spec.service ?? {};
      pool = connectionPool({
        serverName: `${name}.${namespace}.svc`,
        caBundle: verify ? (this.spec.caBundle ?? '') : '',
        verify: verify && !this.spec.insecureSkipTLSVerify,
        certificate: this.dependencies.certificate(),
        dial: this.dependencies.dial,
      });
      this.pools.set(verify, pool);
    }
    return pool;
  }

  /** Uses new connections from now on; requests in flight finish. */
  reconnect(): void {
    for (const pool of this.pools.values()) drainPool(pool);
    this.pools.clear();
  }

  /** Counts a request until the returned function is called. Throws 429 if there are too many. */
  enter(isStream: boolean): () => void {
    const max = isStream ? aggregatedStreamsMax : aggregatedRequestsMax;
    if ((isStream ? this.streamCount : this.requestCount) >= max) {
      const what = isStream ? 'streams' : 'requests';
      throw tooManyRequests(
        `more than ${max} ${what} to the server of ${this.name} are in flight`,
        retryAfterSeconds,
      );
    }
    this.count(isStream, 1);
    return () => this.count(isStream, -1);
  }

  private count(isStream: boolean, change: 1 | -1): void {
    if (isStream) this.streamCount += change;
    else this.requestCount += change;
  }
}
