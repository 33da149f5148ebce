import { constants, createDeflate } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { controlFrame, dataFrameHead, type Frame, FrameParser, SpdyError } from './frames.js';
import {
  formatHeaders,
  HeaderDeflater,
  HeaderInflater,
  headerDictionary,
  parseHeaders,
} from './headers.js';

function parseIn(pieces: readonly Buffer[]): Frame[] {
  const parser = new FrameParser();
  return pieces.flatMap((piece) => [...parser.push(piece)]);
}

/** The bytes split at these places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort(
    (a, b) => a - b,
  );
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}

/** Data frames put together again. */
function joined(frames: readonly Frame[]): unknown[] {
  const result: { kind: string; id?: number; bytes: string; fin?: boolean; type?: number }[] = [];
  let open: (typeof result)[number] | undefined;
  for (const frame of frames) {
    if (frame.kind === 'control') {
      result.push({ kind: 'control', type: frame.type, bytes: frame.payload.toString('hex') });
      open = undefined;
    } else if (open && open.id === frame.streamId) {
      open.bytes += frame.data.toString('hex');
      open.fin = frame.fin;
    } else {
      open = {
        kind: 'data',
        id: frame.streamId,
        bytes: frame.data.toString('hex'),
        fin: frame.fin,
      };
      result.push(open);
    }
  }
  return result;
}

const headersOf = fc.dictionary(fc.stringMatching(/^[a-z-]{1,20}$/), fc.string({ maxLength: 200 }));

describe('frames', () => {
  it('are decoded independently of the chunks in which they arrive', () => {
    const frame = fc.oneof(
      fc
        .record({ type: fc.integer({ min: 1, max: 9 }), payload: fc.uint8Array({ maxLength: 60 }) })
        .map(({ type, payload }) => controlFrame(type, 0, Buffer.from(payload))),
      fc
        .record({ id: fc.integer({ min: 1, max: 9 }), data: fc.uint8Array({ maxLength: 60 }) })
        .map(({ id, data }) => Buffer.concat([dataFrameHead(id, data.length, false), data])),
    );
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.nat(500)), (frames, places) => {
        const bytes = Buffer.concat(frames);
        expect(joined(parseIn(cut(bytes, places)))).toEqual(joined(parseIn([bytes])));
      }),
    );
  });

  it('are rejected with another version or if they are too long', () => {
    const other = controlFrame(1, 0, Buffer.alloc(4));
    other[1] = 2;
    expect(() => parseIn([other])).toThrow(SpdyError);
    const long = controlFrame(1, 0, Buffer.alloc(4));
    long.writeUIntBE(0xffffff, 5, 3);
    expect(() => parseIn([long])).toThrow('longer than 65536 bytes');
  });

  it('are decoded from random bytes, or a SpdyError is thrown', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        try {
          parseIn([Buffer.from(bytes)]);
        } catch (error) {
          expect(error).toBeInstanceOf(SpdyError);
        }
      }),
    );
  });
});

/** Compresses blocks as other clients do. */
class DictionaryDeflater {
  private readonly stream = createDeflate({ dictionary: headerDictionary });
  private chunks: Buffer[] = [];

  constructor() {
    this.stream.on('data', (chunk: Buffer) => this.chunks.push(chunk));
  }

  async deflate(block: Buffer): Promise<Buffer> {
    this.chunks = [];
    this.stream.write(block);
    await new Promise<void>((done) => this.stream.flush(constants.Z_SYNC_FLUSH, done));
    return Buffer.concat(this.chunks);
  }
}

describe('headers', () => {
  it('use the dictionary of the protocol', () => {
    expect(headerDictionary.length).toBe(1423);
  });

  it('survive encoding and decoding', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(headersOf, { maxLength: 5 }), async (all) => {
        const deflater = new HeaderDeflater();
        const inflater = new HeaderInflater();
        for (const headers of all) {
          const block = await inflater.inflate(deflater.deflate(formatHeaders(headers)));
          expect({ ...parseHeaders(block) }).toEqual({ ...headers });
        }
        inflater.close();
      }),
      { numRuns: 30 },
    );
  });

  it('are decoded if they are compressed with the dictionary', async () => {
    const deflater = new DictionaryDeflater();
    const inflater = new HeaderInflater();
    const all: Record<string, string>[] = [{ streamtype: 'error', port: '80' }, { url: '/' }];
    for (const headers of all) {
      const block = await inflater.inflate(await deflater.deflate(formatHeaders(headers)));
      expect({ ...parseHeaders(block) }).toEqual(headers);
    }
    inflater.close();
  });

  it('are rejected if they are too long after decompression', async () => {
    const block = await new DictionaryDeflater().deflate(Buffer.alloc(10_000_000));
    const inflater = new HeaderInflater();
    await expect(inflater.inflate(block)).rejects.toThrow(SpdyError);
  });

  it('are decoded from random bytes, or a SpdyError is thrown', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          parseHeaders(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(SpdyError);
        }
      }),
    );
  });
});
