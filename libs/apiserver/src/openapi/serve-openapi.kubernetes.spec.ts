import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { definitions } from '@orch/api';
import { selectDialect, systemClock } from '@orch/component';
import { ResourceTable } from '@orch/registry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { splitTarget } from '../http/query.js';
import { noAggregation } from '../testing/no-aggregation.js';
import { testContext } from '../testing/test-context.js';
import { OpenApiDocuments } from './openapi-documents.js';
import {
  documentFormat,
  serveGroupVersion,
  serveIndex,
  serveWholeDocument,
} from './serve-openapi.js';

selectDialect('kubernetes');

const binaryType = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

describe('documentFormat', () => {
  it.each([
    [undefined, 'json'],
    ['*/*', 'json'],
    ['application/json, */*', 'json'],
    [binaryType, 'protobuf'],
    [`application/json;q=0.5, ${binaryType}`, 'protobuf'],
    [`${binaryType};q=0.5, application/json`, 'json'],
    ['text/html', undefined],
  ])('%s: %s', (accept, format) => {
    expect(documentFormat(accept)).toBe(format);
  });
});

interface Fetched {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

describe('serving', () => {
  let server: Server;
  beforeAll(async () => {
    const documents = new OpenApiDocuments({
      ...noAggregation,
      table: new ResourceTable(definitions),
      subresourcesOf: () => [],
      clock: systemClock,
    });
    server = createServer((request, response) => {
      const context = testContext(request, response);
      const { path, query } = splitTarget(request.url!);
      if (path === '/openapi/v2') void serveWholeDocument(documents, context);
      else if (path === '/openapi/v3') void serveIndex(documents, context);
      else void serveGroupVersion(documents, context, path.slice('/openapi/v3/'.length), query);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  function get(path: string, headers: Record<string, string> = {}): Promise<Fetched> {
    const { port } = server.address() as AddressInfo;
    return new Promise((resolve, reject) => {
      const request = httpRequest({ port, path, headers, host: '127.0.0.1' }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            statusCode: response.statusCode!,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
      });
      request.on('error', reject).end();
    });
  }

  it('compresses for clients that accept gzip, and sends 304 for a matching ETag', async () => {
    const plain = await get('/openapi/v2');
    const compressed = await get('/openapi/v2', { 'accept-encoding': 'gzip' });
    expect(compressed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(compressed.body).equals(plain.body)).toBe(true);
    const known = await get('/openapi/v2', { 'if-none-match': plain.headers.etag! });
    expect(known.statusCode).toBe(304);
    expect(known.headers.etag).toBe(plain.headers.etag);
    expect(known.body).toHaveLength(0);
  });

  it('labels the binary form with a media type that can be parsed', async () => {
    const { headers } = await get('/openapi/v2', { accept: binaryType });
    expect(headers['content-type']).toBe(
      'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    );
  });

  it('rejects other formats', async () => {
    expect((await get('/openapi/v2', { accept: 'text/html' })).statusCode).toBe(406);
    expect((await get('/openapi/v3', { accept: binaryType })).statusCode).toBe(406);
  });

  it('serves documents as immutable under the address with their hash, and redirects to it', async () => {
    const { paths } = JSON.parse((await get('/openapi/v3')).body.toString()) as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    const address = paths['apis/apps/v1']!.serverRelativeURL;
    const document = await get(address);
    expect(document.statusCode).toBe(200);
    expect(document.headers['cache-control']).toContain('immutable');
    const older = await get('/openapi/v3/apis/apps/v1?hash=older');
    expect(older).toMatchObject({ statusCode: 301, headers: { location: address } });
    const unnamed = await get('/openapi/v3/apis/apps/v1');
    expect(unnamed.headers['cache-control']).toContain('no-cache');
    expect((await get('/openapi/v3/apis/nope/v1')).statusCode).toBe(404);
  });
});
