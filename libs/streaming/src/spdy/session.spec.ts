import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { controlFrame, dataFrameHead } from './frames.js';
import { formatHeaders, HeaderDeflater } from './headers.js';
import { SpdySession } from './session.js';
import type { SpdyStream } from './stream.js';

const open: { destroy(): void }[] = [];

afterEach(() => {
  for (const one of open.splice(0)) one.destroy();
});

/** Two ends of a connection. */
async function connection(): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as { port: number };
  const client = connect({ port: address.port, host: '127.0.0.1', allowHalfOpen: true });
  const [accepted] = (await once(server, 'connection')) as [Socket];
  server.close();
  client.on('error', () => undefined);
  accepted.on('error', () => undefined);
  open.push(client, accepted);
  return [client, accepted];
}

/** What comes until the other side ends, without ending this one. */
async function text(stream: SpdyStream): Promise<string> {
  let said = '';
  stream.on('data', (chunk) => {
    said += chunk;
  });
  await finished(stream, { writable: false });
  return said;
}

async function sessions(): Promise<{ client: SpdySession; server: SpdySession }> {
  const [near, far] = await connection();
  return { client: new SpdySession(near, 'client'), server: new SpdySession(far, 'server') };
}

describe('SpdySession', () => {
  it('transfers both directions of several streams, which end independently', async () => {
    const { client, server } = await sessions();
    server.on('stream', (stream) => {
      void text(stream).then((said) => stream.end(`${stream.headers.name}: ${said}`));
    });
    const answers = ['a', 'b', 'c'].map((name) => {
      const stream = client.open({ name });
      stream.end(`hello from ${name}`);
      return text(stream);
    });
    expect(await Promise.all(answers)).toEqual([
      'a: hello from a',
      'b: hello from b',
      'c: hello from c',
    ]);
    expect(client.streamCount).toBe(0);
  });

  it('transfers a megabyte in each direction and bounds its buffers without a reader', async () => {
    const { client, server } = await sessions();
    const opened = new Promise<SpdyStream>((done) => server.once('stream', done));
    const stream = client.open({});
    const payload = Buffer.alloc(1024 * 1024, 'x');
    let taken = 0;
    const writing = (async () => {
      for (let index = 0; index < 64; index += 1) {
        if (!stream.write(payload)) await once(stream, 'drain');
        taken += 1;
      }
      stream.end();
    })();
    const far = await opened;
    await new Promise((done) => setTimeout(done, 200));
    expect(taken).toBeLessThan(64);
    expect(far.readableLength).toBeLessThan(2 * 1024 * 1024);
    let byteCount = 0;
    for await (const chunk of far) byteCount += chunk.length;
    expect(byteCount).toBe(64 * payload.length);
    await writing;
  });

  it('ends its streams when the connection is closed', async () => {
    const { client, server } = await sessions();
    const opened = new Promise<SpdyStream>((done) => server.once('stream', done));
    client.open({});
    const stream = await opened;
    const closed = new Promise((done) => stream.once('close', done));
    client.destroy();
    await closed;
    expect(stream.destroyed).toBe(true);
  });

  it('survives random input', async () => {
    const deflater = new HeaderDeflater();
    const block = deflater.deflate(formatHeaders({ streamtype: 'data', port: '80' }));
    const frame = fc.oneof(
      fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
      fc
        .tuple(fc.integer({ min: 0, max: 12 }), fc.nat(3), fc.uint8Array({ maxLength: 32 }))
        .map(([type, flags, bytes]) => controlFrame(type, flags, Buffer.from(bytes))),
      fc
        .nat(9)
        .map((id) =>
          controlFrame(1, 0, Buffer.concat([Buffer.of(0, 0, 0, id), Buffer.alloc(6), block])),
        ),
      fc
        .tuple(fc.nat(9), fc.uint8Array({ maxLength: 32 }), fc.boolean())
        .map(([id, bytes, fin]) =>
          Buffer.concat([dataFrameHead(id, bytes.length, fin), Buffer.from(bytes)]),
        ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 20 }), async (frames) => {
        const [near, far] = await connection();
        const server = new SpdySession(far, 'server');
        server.on('stream', (stream) => stream.resume());
        const closed = new Promise((done) => server.once('close', done));
        near.resume();
        near.end(Buffer.concat(frames));
        await closed;
        expect(server.streamCount).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});
