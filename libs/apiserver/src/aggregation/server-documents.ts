/**
 * The discovery and OpenAPI documents of the aggregated API servers, read in the background, so
 * that no client waits for them. While a server is not available its last documents stay.
 */
import { createHash } from 'node:crypto';
import { isJsonObject } from '@orch/apimachinery';
import { type Clock, errorMessage, type Logger, type Timer } from '@orch/component';
import {
  aggregatedDiscoveryBytesMax,
  aggregatedDiscoveryTimeoutMs,
  aggregatedDocumentBytesMax,
  aggregatedDocumentTimeoutMs,
  aggregatedRefreshMs,
  aggregatedRetryMs,
} from '../limits.js';
import type { AggregatedApis } from './aggregated-apis.js';
import type { AggregatedServer } from './aggregated-server.js';
import { type ApiResource, parseResourceList } from './api-resource-list.js';
import { requestServer } from './server-request.js';

/** A document as the server sent it. */
export interface ServerDocument {
  readonly value: unknown;
  /** The hash of its bytes, hexadecimal. */
  readonly hash: string;
}

export interface ServerDocumentsDependencies {
  readonly apis: AggregatedApis;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class ServerDocuments {
  /** Changes with every document. */
  revision = 0;
  private readonly readers = new Map<AggregatedServer, DocumentReader>();
  private isStopped = false;

  constructor(private readonly dependencies: ServerDocumentsDependencies) {
    dependencies.apis.onChange(() => this.update());
  }

  /** Whether the documents of the registered servers are being read. */
  get isReading(): boolean {
    return this.dependencies.apis.isSynced && !this.isStopped;
  }

  of(server: AggregatedServer): DocumentReader | undefined {
    return this.readers.get(server);
  }

  stop(): void {
    this.isStopped = true;
    for (const reader of this.readers.values()) reader.stop();
    this.readers.clear();
  }

  private update(): void {
    if (this.isStopped) return;
    const { apis, clock, logger } = this.dependencies;
    const servers = new Set(apis.servers);
    for (const [server, reader] of this.readers) {
      if (servers.has(server)) continue;
      reader.stop();
      this.readers.delete(server);
    }
    const onChange = () => {
      this.revision += 1;
    };
    for (const server of servers) {
      let reader = this.readers.get(server);
      if (!reader) {
        reader = new DocumentReader(server, { clock, logger, onChange });
        this.readers.set(server, reader);
      }
      reader.update();
    }
    onChange();
  }
}

interface DocumentReaderDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onChange: () => void;
}

/** Reads the documents of one server while it is available. */
export class DocumentReader {
  resources: readonly ApiResource[] | undefined;
  openApi2: ServerDocument | undefined;
  openApi3: ServerDocument | undefined;
  private isFresh = false;
  private timer: Timer | undefined;
  private isReading = false;
  private isStopped = false;
  private failureCount = 0;

  constructor(
    private readonly server: AggregatedServer,
    private readonly dependencies: DocumentReaderDependencies,
  ) {}

  /** Whether the resources are those of the last read, and the server is available. */
  get isCurrent(): boolean {
    return this.isFresh && this.server.isAvailable;
  }

  /** Starts reading when the server has become available. */
  update(): void {
    if (this.server.isAvailable) {
      if (!this.timer && !this.isReading) this.schedule(0);
      return;
    }
    this.isFresh = false;
    this.timer?.cancel();
    this.timer = undefined;
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  private schedule(delayMs: number): void {
    if (this.isStopped) return;
    this.timer = this.dependencies.clock.setTimer(delayMs, () => {
      this.timer = undefined;
      void this.read();
    });
  }

  private async read(): Promise<void> {
    this.isReading = true;
    const discovered = await this.attempt('discovery', async () => {
      this.resources = await this.readResources();
    });
    this.isFresh = discovered;
    this.dependencies.onChange();
    const described = await this.attempt('OpenAPI', () => this.readOpenApi());
    this.dependencies.onChange();
    this.isReading = false;
    this.failureCount = discovered && described ? 0 : this.failureCount + 1;
    if (!this.server.isAvailable) return;
    const retryMs = aggregatedRetryMs * 2 ** Math.min(this.failureCount - 1, 10);
    this.schedule(
      this.failureCount === 0 ? aggregatedRefreshMs : Math.min(retryMs, aggregatedRefreshMs),
    );
  }

  private async attempt(what: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      const { logger } = this.dependencies;
      const reason = errorMessage(error);
      logger.warn(
        { apiService: this.server.name, document: what, reason },
        'a document of an aggregated API server cannot be used',
      );
      return false;
    }
  }

  private async readResources(): Promise<ApiResource[]> {
    const { group, version, discoveryPath } = this.server;
    const { statusCode, body } = await requestServer(this.server, {
      path: discoveryPath,
      accept: 'application/json',
      timeoutMs: aggregatedDiscoveryTimeoutMs,
      bytesMax: aggregatedDiscoveryBytesMax,
      verify: true,
    });
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
    const groupVersion = group === '' ? version : `${group}/${version}`;
    return parseResourceList(JSON.parse(body.toString()), groupVersion);
  }

  private async readOpenApi(): Promise<void> {
    this.openApi2 = await this.readDocument('/openapi/v2', this.openApi2);
    this.openApi3 = await this.readVersion3();
  }

  /** Undefined: the server has no version 3 document of the group version. */
  private async readVersion3(): Promise<ServerDocument | undefined> {
    const index = await this.readDocument('/openapi/v3', undefined);
    const paths = isJsonObject(index?.value) ? index.value.paths : undefined;
    const place = this.server.discoveryPath.slice(1);
    const entry = isJsonObject(paths) ? paths[place] : undefined;
    const url = isJsonObject(entry) ? entry.serverRelativeURL : undefined;
    if (typeof url !== 'string' || !url.startsWith('/openapi/v3/')) return undefined;
    return this.readDocument(url, this.openApi3);
  }

  /** Returns `last` if it is unchanged, undefined if the server has no such document. */
  private async readDocument(
    path: string,
    last: ServerDocument | undefined,
  ): Promise<ServerDocument | undefined> {
    const { statusCode, body } = await requestServer(this.server, {
      path,
      accept: 'application/json',
      timeoutMs: aggregatedDocumentTimeoutMs,
      bytesMax: aggregatedDocumentBytesMax,
      verify: true,
    });
    if (statusCode === 404 || statusCode === 406) return undefined;
    if (statusCode !== 200) throw new Error(`status ${statusCode} of ${path}`);
    const hash = createHash('sha256').update(body).digest('hex');
    return hash === last?.hash ? last : { value: JSON.parse(body.toString()), hash };
  }
}
