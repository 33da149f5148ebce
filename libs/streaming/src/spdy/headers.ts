/**
 * Header blocks of SPDY/3.1. All blocks of a direction form one zlib stream with a predefined
 * dictionary. Received blocks are inflated with it. Sent blocks are stored uncompressed, which is a
 * valid zlib stream and needs no dictionary, no state and no waiting, because the sent headers are
 * few.
 * Source: the published draft of SPDY/3.1, sections 2.6.10 and 2.6.10.1.
 */
import { constants, createInflate, type Inflate } from 'node:zlib';
import { headerBytesMax, headerCountMax } from '../limits.js';
import { SpdyError } from './frames.js';

export type StreamHeaders = Readonly<Record<string, string>>;

/** The words of the dictionary, each of which is preceded by its length. */
const dictionaryWords =
  'options head post put delete trace accept accept-charset accept-encoding accept-language ' +
  'accept-ranges age allow authorization cache-control connection content-base content-encoding ' +
  'content-language content-length content-location content-md5 content-range content-type date ' +
  'etag expect expires from host if-match if-modified-since if-none-match if-range ' +
  'if-unmodified-since last-modified location max-forwards pragma proxy-authenticate ' +
  'proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade ' +
  'user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url ' +
  'public set-cookie keep-alive origin';

/** The rest of the dictionary, without lengths. */
const dictionaryEnd =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505' +
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request' +
  '401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented' +
  '503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, ' +
  'Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,' +
  'application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdch' +
  'charset=utf-8charset=iso-8859-1,utf-,*,enq=0.';

export const headerDictionary = Buffer.concat([
  ...dictionaryWords.split(' ').map((word) => lengthFirst(word.replace('_', ' '))),
  Buffer.from(dictionaryEnd, 'latin1'),
]);

function lengthFirst(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Decodes a header block to values by lower-case names. Throws SpdyError. */
export function parseHeaders(block: Buffer): StreamHeaders {
  let offset = 0;
  const number = (): number => {
    if (offset + 4 > block.length) throw new SpdyError('a header block is too short');
    offset += 4;
    return block.readUInt32BE(offset - 4);
  };
  const text = (): string => {
    const length = number();
    if (length > block.length - offset) throw new SpdyError('a header block is too short');
    offset += length;
    return block.toString('utf8', offset - length, offset);
  };
  const count = number();
  if (count > headerCountMax) throw new SpdyError(`more than ${headerCountMax} headers`);
  const headers: Record<string, string> = Object.create(null);
  for (let index = 0; index < count; index += 1) {
    const name = text().toLowerCase();
    headers[name] = text();
  }
  return headers;
}

export function formatHeaders(headers: StreamHeaders): Buffer {
  const entries = Object.entries(headers);
  const count = Buffer.allocUnsafe(4);
  count.writeUInt32BE(entries.length);
  const parts = entries.flatMap(([name, value]) => [
    lengthFirst(name.toLowerCase()),
    lengthFirst(value),
  ]);
  return Buffer.concat([count, ...parts]);
}

/** The zlib header: deflate with a window of 32 KiB and no dictionary. */
const zlibHead = Buffer.of(0x78, 0x01);
const storedBytesMax = 0xffff;
/** An empty block, which some readers need to return the preceding data. */
const flush = Buffer.of(0, 0, 0, 0xff, 0xff);

export class HeaderDeflater {
  private begun = false;

  /** Encodes a block. All blocks must be sent in this order. */
  deflate(block: Buffer): Buffer {
    const parts: Buffer[] = this.begun ? [] : [zlibHead];
    this.begun = true;
    for (let offset = 0; offset < block.length; offset += storedBytesMax) {
      const bytes = block.subarray(offset, offset + storedBytesMax);
      const head = Buffer.alloc(5);
      head.writeUInt16LE(bytes.length, 1);
      head.writeUInt16LE(~bytes.length & 0xffff, 3);
      parts.push(head, bytes);
    }
    parts.push(flush);
    return Buffer.concat(parts);
  }
}

const tooLong = `the headers of a stream are longer than ${headerBytesMax} bytes`;

export class HeaderInflater {
  private readonly inflater: Inflate;
  private chunks: Buffer[] = [];
  private byteCount = 0;
  private fail: ((error: Error) => void) | undefined;

  constructor() {
    this.inflater = createInflate({
      dictionary: headerDictionary,
      finishFlush: constants.Z_SYNC_FLUSH,
    });
    this.inflater.on('data', (chunk: Buffer) => {
      this.byteCount += chunk.length;
      if (this.byteCount <= headerBytesMax) this.chunks.push(chunk);
      else this.inflater.destroy(new SpdyError(tooLong));
    });
    this.inflater.on('error', (error) => this.fail?.(error));
    this.inflater.on('end', () => this.fail?.(new Error('the zlib stream has ended')));
  }

  /** Decodes a block. The caller must await each call before the next. Rejects with SpdyError. */
  inflate(block: Buffer): Promise<Buffer> {
    this.chunks = [];
    this.byteCount = 0;
    return new Promise((resolve, reject) => {
      this.fail = (cause) => reject(new SpdyError('headers cannot be decompressed', { cause }));
      this.inflater.write(block, (error) => {
        if (error) return;
        // Reading emits the buffered output as data.
        while (this.inflater.read() !== null);
        if (this.byteCount <= headerBytesMax) resolve(Buffer.concat(this.chunks));
        else reject(new SpdyError(tooLong));
      });
    });
  }

  close(): void {
    this.inflater.destroy();
  }
}
