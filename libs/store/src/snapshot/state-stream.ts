/**
 * The state as one stream: for a replica that is too far behind, and as a backup file. A header with
 * the facts, then the rows of proposers and versions as they lie in the database, history included, all
 * as of one moment. It names no cluster and no member.
 *
 *   u32 header bytes | header (JSON) | rows: u16 key bytes, u32 value bytes, key, value | u16 0
 */
import {
  CHUNK_PAYLOAD_BYTES,
  CheckedStreamReader,
  CheckedStreamWriter,
  type Row,
  type Rows,
} from '@orch/raft';
import type { Facts } from '../core/state-machine.js';
import { COMMIT_BYTES_MAX, SCAN_SLICE_RECORDS } from '../limits.js';
import { StoreError } from '../versioned-store.js';

const FORMAT = 'state-2';
const HEADER_BYTES_MAX = 64 * 1024;
const ROW_HEADER_BYTES = 6;

/** What the rows belong to. */
export interface StateHeader {
  readonly facts: Facts;
  /** History up to here may be missing: this replica has dropped it, before the cluster compacts it. */
  readonly sweptRevision: number;
}

interface Header extends StateHeader {
  readonly format: typeof FORMAT;
}

/** Checked chunks. `rows` are read one after the other, each to its end. */
export async function* writeStateStream(
  { facts, sweptRevision }: StateHeader,
  rows: readonly Rows[],
): AsyncGenerator<Buffer, void, undefined> {
  const stream = new CheckedStreamWriter();
  const header: Header = { format: FORMAT, facts, sweptRevision };
  const headerBytes = Buffer.from(JSON.stringify(header));
  const headerLength = Buffer.alloc(4);
  headerLength.writeUInt32BE(headerBytes.length);
  let parts: Buffer[] = [headerLength, headerBytes];
  let byteCount = headerLength.length + headerBytes.length;
  for (const source of rows) {
    for (;;) {
      const slice = await source.next(SCAN_SLICE_RECORDS);
      if (slice.length === 0) break;
      for (const row of slice) {
        const head = rowHeader(row);
        parts.push(head, ...row);
        byteCount += head.length + row[0].length + row[1].length;
        if (byteCount < CHUNK_PAYLOAD_BYTES) continue;
        const whole = Buffer.concat(parts);
        let at = 0;
        for (; whole.length - at >= CHUNK_PAYLOAD_BYTES; at += CHUNK_PAYLOAD_BYTES) {
          yield stream.chunk(whole.subarray(at, at + CHUNK_PAYLOAD_BYTES));
        }
        parts = [whole.subarray(at)];
        byteCount = whole.length - at;
      }
    }
  }
  for (const last of cut(Buffer.concat([...parts, Buffer.alloc(2)]))) yield stream.chunk(last);
  yield stream.trailer();
}

/** Takes such a stream apart as it comes, in pieces of any size. Throws LogError or StoreError `Corrupt`. */
export class StateStreamReader {
  header: StateHeader | undefined;
  readonly #stream = new CheckedStreamReader();
  #rest: Buffer[] = [];
  #restBytes = 0;
  #neededBytes = 4;
  #ended = false;

  /** Rows that are complete by now. */
  take(bytes: Buffer): Row[] {
    const rows: Row[] = [];
    for (const payload of this.#stream.take(bytes)) {
      this.#rest.push(payload);
      this.#restBytes += payload.length;
      if (this.#restBytes >= this.#neededBytes) this.#parse(rows);
    }
    return rows;
  }

  /** All of it has come. */
  finish(): StateHeader & { readonly byteCount: number; readonly checksum: number } {
    const total = this.#stream.finish();
    if (!this.#ended || !this.header) throw malformed('it ends too early');
    return { ...this.header, ...total };
  }

  #parse(rows: Row[]): void {
    const bytes = this.#rest.length === 1 ? this.#rest[0]! : Buffer.concat(this.#rest);
    let at = this.header ? 0 : this.#parseHeader(bytes);
    while (this.header) {
      if (this.#ended && at < bytes.length) throw malformed('it goes on after its end');
      this.#neededBytes = rowBytes(bytes, at);
      const end = at + this.#neededBytes;
      if (this.#ended || end > bytes.length) break;
      const keyBytes = bytes.readUInt16BE(at);
      if (keyBytes === 0) this.#ended = true;
      else {
        const valueStart = at + ROW_HEADER_BYTES + keyBytes;
        rows.push([
          bytes.subarray(at + ROW_HEADER_BYTES, valueStart),
          bytes.subarray(valueStart, end),
        ]);
      }
      at = end;
    }
    this.#rest = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#restBytes = bytes.length - at;
  }

  #parseHeader(bytes: Buffer): number {
    const length = bytes.readUInt32BE(0);
    if (length > HEADER_BYTES_MAX) throw malformed('its header is too long');
    this.#neededBytes = 4 + length;
    if (bytes.length < this.#neededBytes) return 0;
    const { format, facts, sweptRevision } = parseHeader(bytes.toString('utf8', 4, 4 + length));
    if (format !== FORMAT || !facts || sweptRevision === undefined) {
      throw malformed(`it has format ${String(format)}, this program reads ${FORMAT}`);
    }
    this.header = { facts, sweptRevision };
    return 4 + length;
  }
}

function parseHeader(text: string): Partial<Header> {
  try {
    // What is no object has none of the fields.
    return (JSON.parse(text) as Partial<Header> | null) ?? {};
  } catch (error) {
    if (error instanceof SyntaxError) throw malformed('its header is not JSON');
    throw error;
  }
}

function rowHeader([key, value]: Row): Buffer {
  const header = Buffer.allocUnsafe(ROW_HEADER_BYTES);
  header.writeUInt16BE(key.length, 0);
  header.writeUInt32BE(value.length, 2);
  return header;
}

/** Bytes of the row at `at`, as far as can be told from what is there. */
function rowBytes(bytes: Buffer, at: number): number {
  const left = bytes.length - at;
  if (left < 2) return 2;
  const keyBytes = bytes.readUInt16BE(at);
  if (keyBytes === 0) return 2;
  if (left < ROW_HEADER_BYTES) return ROW_HEADER_BYTES;
  const valueBytes = bytes.readUInt32BE(at + 2);
  if (valueBytes > 2 * COMMIT_BYTES_MAX) throw malformed('a row is too long');
  return ROW_HEADER_BYTES + keyBytes + valueBytes;
}

function* cut(whole: Buffer): Generator<Buffer> {
  for (let at = 0; at < whole.length; at += CHUNK_PAYLOAD_BYTES) {
    yield whole.subarray(at, at + CHUNK_PAYLOAD_BYTES);
  }
}

function malformed(fault: string): StoreError {
  return new StoreError('Corrupt', `the stream of a state cannot be read: ${fault}`);
}
