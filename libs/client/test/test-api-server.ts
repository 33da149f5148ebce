/**
 * A small API server for tests of the client: any resource, in memory, with list (pages), watch
 * (bookmarks, resume, 410 after `compact`), optimistic concurrency, merge patches and injected
 * faults. Several servers may share their objects, as replicas do.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';

interface Stored {
  apiVersion?: string;
  kind?: string;
  metadata: { name: string; namespace?: string; uid: string; resourceVersion: string };
  [field: string]: unknown;
}

interface Change {
  revision: number;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  path: string;
  object: Stored;
}

interface Watcher {
  collection: string;
  response: ServerResponse;
}

/** The state that replicas share. */
interface State {
  readonly objects: Map<string, Stored>;
  readonly changes: Change[];
  readonly replicas: TestApiServer[];
  revision: number;
  uidCount: number;
  compacted: number;
}

export interface TestApiServerOptions {
  /** Serves HTTPS; without these options, plain HTTP. */
  tls?: ServerOptions;
  /** The server whose objects this one shares. */
  replicaOf?: TestApiServer;
}

export interface Fault {
  statusCode: number;
  reason?: string;
  retryAfter?: string;
  details?: object;
}

export class TestApiServer {
  readonly requests: { method: string; url: string; headers: IncomingMessage['headers'] }[] = [];
  /** Responses to the next requests, instead of the real ones. */
  readonly faults: Fault[] = [];
  /** Accepts requests and never responds. */
  isSilent = false;
  /** The number of next requests that take effect and lose their response. */
  lostResponseCount = 0;
  /** Whether `/readyz` returns 200. */
  isReady = true;
  private readonly state: State;
  private readonly watchers = new Set<Watcher>();
  private readonly server: Server;
  private port = 0;

  constructor(private readonly options: TestApiServerOptions = {}) {
    this.state = options.replicaOf?.state ?? {
      objects: new Map(),
      changes: [],
      replicas: [],
      revision: 10,
      uidCount: 0,
      compacted: 0,
    };
    this.state.replicas.push(this);
    const listener: RequestListener = (request, response) => {
      this.handle(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    };
    const { tls } = options;
    this.server = tls ? createSecureServer(tls, listener) : createServer(listener);
  }

  /** After `stop`, starts at the same address again. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
    return `${this.options.tls ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  get watcherCount(): number {
    return this.watchers.size;
  }

  /** Breaks the connections of all watches. */
  breakWatches(): void {
    for (const { response } of this.watchers) response.destroy();
    this.watchers.clear();
  }

  /** Discards the history: a watch from an earlier version fails with 410. */
  compact(): void {
    this.state.compacted = this.state.revision;
    this.state.changes.length = 0;
  }

  bookmark(): void {
    for (const { response } of this.watchers) {
      const object = { metadata: { resourceVersion: String(this.state.revision) } };
      response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
    }
  }

  /** Creates or replaces the object at `path`. */
  put(path: string, fields: Record<string, unknown> = {}): Stored {
    const existing = this.state.objects.get(path);
    const segments = path.split('/');
    const at = segments.indexOf('namespaces');
    const metadata = {
      ...(fields.metadata as object | undefined),
      name: segments.at(-1)!,
      ...(at >= 0 && segments.length > at + 3 ? { namespace: segments[at + 1] } : {}),
      uid: existing?.metadata.uid ?? `uid-${++this.state.uidCount}`,
      resourceVersion: String(++this.state.revision),
    };
    const object: Stored = { ...fields, metadata };
    this.state.objects.set(path, object);
    this.publish(existing ? 'MODIFIED' : 'ADDED', path, object);
    return object;
  }

  remove(path: string): void {
    const existing = this.state.objects.get(path);
    if (!existing) return;
    this.state.objects.delete(path);
    const metadata = { ...existing.metadata, resourceVersion: String(++this.state.revision) };
    this.publish('DELETED', path, { ...existing, metadata });
  }

  get(path: string): Stored | undefined {
    return this.state.objects.get(path);
  }

  /** The paths of the objects of a collection. */
  paths(collection: string): string[] {
    return [...this.state.objects.keys()].filter((path) => isIn(path, collection)).sort();
  }

  private publish(type: Change['type'], path: string, object: Stored): void {
    const change = { revision: this.state.revision, type, path, object };
    this.state.changes.push(change);
    for (const { watchers, isSilent } of this.state.replicas) {
      if (isSilent) continue;
      for (const { collection, response } of watchers) {
        if (isIn(path, collection)) response.write(`${JSON.stringify({ type, object })}\n`);
      }
    }
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://test');
    const { pathname: path, searchParams: query } = url;
    const method = request.method ?? 'GET';
    if (path === '/readyz') {
      if (!this.isSilent) response.writeHead(this.isReady ? 200 : 500).end();
      return;
    }
    this.requests.push({ method, url: request.url ?? '', headers: request.headers });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    if (this.isSilent) return;
    const fault = this.faults.shift();
    if (fault) {
      const headers: Record<string, string> = {};
      if (fault.retryAfter) headers['retry-after'] = fault.retryAfter;
      refuse(response, fault.statusCode, fault.reason ?? '', headers, fault.details);
      return;
    }
    if (this.lostResponseCount > 0) {
      this.lostResponseCount--;
      request.socket.destroy();
    }
    if (method === 'GET' && query.get('watch')) this.watch(path, query, response);
    else if (method === 'GET' && this.state.objects.has(path))
      answer(response, this.state.objects.get(path));
    else if (method === 'GET' && /s$/.test(path)) this.list(path, query, response);
    else if (method === 'POST') this.create(path, body, response);
    else this.change(method, path, body, response);
  }

  private create(
    collection: string,
    body: Record<string, unknown>,
    response: ServerResponse,
  ): void {
    const path = `${collection}/${(body.metadata as { name: string }).name}`;
    if (this.state.objects.has(path)) refuse(response, 409, 'AlreadyExists');
    else answer(response, this.put(path, body), 201);
  }

  private change(
    method: string,
    path: string,
    body: Record<string, unknown>,
    response: ServerResponse,
  ): void {
    const existing = this.state.objects.get(path);
    if (!existing) {
      refuse(response, 404, 'NotFound');
      return;
    }
    if (method === 'DELETE') {
      this.remove(path);
      answer(response, { kind: 'Status', status: 'Success' });
      return;
    }
    const version = (body.metadata as { resourceVersion?: string } | undefined)?.resourceVersion;
    if (version && version !== existing.metadata.resourceVersion) {
      refuse(response, 409, 'Conflict');
      return;
    }
    answer(response, this.put(path, method === 'PATCH' ? { ...existing, ...body } : body));
  }

  private list(collection: string, query: URLSearchParams, response: ServerResponse): void {
    const limit = Number(query.get('limit') ?? 0);
    const start = Number(query.get('continue') ?? 0);
    const all = this.paths(collection).map((path) => this.state.objects.get(path));
    const items = limit > 0 ? all.slice(start, start + limit) : all;
    const next = start + items.length < all.length ? String(start + items.length) : undefined;
    const metadata = { resourceVersion: String(this.state.revision), continue: next };
    answer(response, { kind: 'ThingList', apiVersion: 'v1', metadata, items });
  }

  private watch(collection: string, query: URLSearchParams, response: ServerResponse): void {
    const from = Number(query.get('resourceVersion') ?? 0);
    response.writeHead(200, { 'content-type': 'application/json' });
    if (from < this.state.compacted) {
      const object = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
      response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
      return;
    }
    response.flushHeaders();
    for (const { revision, type, path, object } of this.state.changes) {
      if (revision > from && isIn(path, collection)) {
        response.write(`${JSON.stringify({ type, object })}\n`);
      }
    }
    const watcher = { collection, response };
    this.watchers.add(watcher);
    response.on('close', () => this.watchers.delete(watcher));
  }
}

/** Whether `path` is in the collection, which may span all namespaces. */
function isIn(path: string, collection: string): boolean {
  const parent = path.slice(0, path.lastIndexOf('/'));
  return parent === collection || parent.replace(/\/namespaces\/[^/]+\//, '/') === collection;
}

function answer(response: ServerResponse, body: unknown, statusCode = 200): void {
  response.writeHead(statusCode, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function refuse(
  response: ServerResponse,
  statusCode: number,
  reason: string,
  headers: Record<string, string> = {},
  details?: object,
): void {
  const status = { kind: 'Status', status: 'Failure', code: statusCode };
  const body = { ...status, reason, message: reason, details };
  response.writeHead(statusCode, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
