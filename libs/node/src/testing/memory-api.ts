/**
 * As much of an API server as the agent's tests need: objects by path, list, watch, create, replace,
 * patch and delete. It validates nothing and keeps no history; watches start with what is there.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ApiObject } from '@orch/client';

interface Watcher {
  readonly collection: string;
  readonly matches: (object: ApiObject) => boolean;
  readonly response: ServerResponse;
}

type Json = Record<string, unknown>;

export class MemoryApi {
  private readonly objects = new Map<string, ApiObject>();
  private readonly watchers = new Set<Watcher>();
  private version = 0;
  private readonly server: Server = createServer((request, response) => {
    this.handle(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get<T extends ApiObject>(path: string): T | undefined {
    return this.objects.get(path) as T | undefined;
  }

  list<T extends ApiObject>(collection: string): T[] {
    return [...this.objects]
      .filter(([path]) => isIn(path, collection))
      .map(([, object]) => object as T);
  }

  put(path: string, object: ApiObject): ApiObject {
    const before = this.objects.get(path);
    this.version += 1;
    const stored: ApiObject = {
      ...object,
      metadata: {
        uid: before?.metadata?.uid ?? `uid-${this.version}`,
        creationTimestamp: '2026-01-01T00:00:00Z',
        ...object.metadata,
        name: path.split('/').at(-1)!,
        resourceVersion: String(this.version),
      },
    };
    this.objects.set(path, stored);
    this.tell(path, before ? 'MODIFIED' : 'ADDED', stored);
    return stored;
  }

  delete(path: string): void {
    const object = this.objects.get(path);
    if (!object) return;
    this.objects.delete(path);
    this.version += 1;
    this.tell(path, 'DELETED', {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(this.version) },
    });
  }

  private tell(path: string, type: string, object: ApiObject): void {
    for (const { collection, matches, response } of this.watchers) {
      if (isIn(path, collection) && matches(object)) {
        response.write(`${JSON.stringify({ type, object })}\n`);
      }
    }
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://api');
    const path = url.pathname.replace(/\/status$/, '');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body = (text === '' ? {} : JSON.parse(text)) as Json;
    const { method } = request;
    if (method === 'GET' && isCollection(path)) {
      return this.serveCollection(path, url.searchParams, response);
    }
    if (method === 'POST') {
      const metadata = (body as ApiObject).metadata ?? {};
      const name = metadata.name ?? `${metadata.generateName}${this.version}`;
      const target = `${path}/${name}`;
      if (this.objects.has(target)) return send(response, 409, failure(409, 'AlreadyExists'));
      return send(response, 201, this.put(target, body));
    }
    const current = this.objects.get(path);
    if (!current) return send(response, 404, failure(404, 'NotFound'));
    if (method === 'GET') return send(response, 200, current);
    if (method === 'PUT') return send(response, 200, this.put(path, body));
    if (method === 'PATCH') return send(response, 200, this.put(path, merged(current, body)));
    this.delete(path);
    return send(response, 200, { kind: 'Status', status: 'Success' });
  }

  private serveCollection(path: string, query: URLSearchParams, response: ServerResponse): void {
    const [field, value] = query.get('fieldSelector')?.split('=') ?? [];
    const matches = (object: ApiObject) => {
      if (!field) return true;
      let found: unknown = object;
      for (const part of field.split('.')) found = (found as Json | undefined)?.[part];
      return found === value;
    };
    if (query.get('watch') === null) {
      const metadata = { resourceVersion: String(this.version) };
      const items = this.list(path).filter(matches);
      send(response, 200, { kind: 'List', apiVersion: 'v1', metadata, items });
      return;
    }
    const watcher = { collection: path, matches, response };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const since = Number(query.get('resourceVersion') ?? 0);
    for (const object of this.list(path).filter(matches)) {
      if (Number(object.metadata?.resourceVersion) > since) {
        response.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
      }
    }
    this.watchers.add(watcher);
    response.on('close', () => this.watchers.delete(watcher));
  }
}

function isCollection(path: string): boolean {
  const parts = path
    .split('/')
    .filter(Boolean)
    .slice(path.startsWith('/api/') ? 2 : 3);
  return parts.length === 1 || (parts[0] === 'namespaces' && parts.length === 3);
}

/** A collection of one namespace, or of all. */
function isIn(path: string, collection: string): boolean {
  const parent = path.slice(0, path.lastIndexOf('/'));
  return parent === collection || parent.replace(/\/namespaces\/[^/]+/, '') === collection;
}

/** A merge patch in which conditions are merged by type. */
function merged(current: ApiObject, patch: Json): ApiObject {
  const merge = (left: unknown, right: unknown, key: string): unknown => {
    if (key === 'conditions' && Array.isArray(right)) {
      const kept = ((left as Json[] | undefined) ?? []).filter(
        (one) => !right.some((other: Json) => other.type === one.type),
      );
      return [...kept, ...right];
    }
    if (Array.isArray(right)) return right.filter((item: Json) => !item.$patch);
    if (typeof right !== 'object' || right === null) return right;
    const result: Json = { ...(left as Json | undefined) };
    for (const [name, value] of Object.entries(right)) {
      if (value === null) delete result[name];
      else result[name] = merge(result[name], value, name);
    }
    return result;
  };
  return merge(current, patch, '') as ApiObject;
}

function failure(code: number, reason: string): Json {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason };
}

function send(response: ServerResponse, statusCode: number, body: object): void {
  response.writeHead(statusCode, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
