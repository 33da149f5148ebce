/**
 * The state as one stream: for a replica that is too far behind, and as a backup file. A header
 * with the facts, then the rows of proposers and versions as stored in the database, history
 * included, all of one state. It names no cluster and no member.
 *
 *   u32 header bytes | header (JSON) | rows: u16 key bytes, u32 value bytes, key, value | u16 0
 */
import {
  CheckedStreamReader,
  CheckedStreamWriter,
  chunkPayloadBytes,
  type Row,
  type Rows,
} from '@orch/raft';
import type { Facts } from '../core/state-machine.js';
import { commitBytesMax, scanSliceRecords } from '../limits.js';
import { checkFacts } from '../state/facts-codec.js';
import { StoreError } from '../versioned-store.js';

const streamFormat = 'state-2';
const headerBytesMax = 64 * 1024;
const rowHeaderBytes = 6;

/** The facts of the rows. */
export interface StateHeader {
  readonly facts: Facts;
  /**
   * History up to this revision may be missing: this replica dropped it before the cluster
   * compacted it.
   */
  readonly sweptRevision: number;
}

interface Header extends StateHeader {
  readonly format: typeof streamFormat;
}

/** Yields checked chunks. Reads each of `rows` to its end, sequentially. */
export async function* writeStateStream(
  { facts, sweptRevision }: StateHeader,
  rows: readonly Rows[],
): AsyncGenerator<Buffer, void, undefined> {
  const stream = new CheckedStreamWriter();
  const header: Header = { format: streamFormat, facts, sweptRevision };
  const headerBytes = Buffer.from(JSON.stringify(header));
  const headerLength = Buffer.alloc(4);
  headerLength.writeUInt32BE(headerBytes.length);
  let parts: Buffer[] = [headerLength, headerBytes];
  let byteCount = headerLength.length + headerBytes.length;
  for (const source of rows) {
    for (;;) {
      const slice = await source.next(scanSliceRecords);
      if (slice.length === 0) break;
      for (const row of slice) {
        const head = rowHeader(row);
        parts.push(head, ...row);
        byteCount += head.length + row[0].length + row[1].length;
        if (byteCount < chunkPayloadBytes) continue;
        const whole = Buffer.concat(parts);
        let at = 0;
        for (; whole.length - at >= chunkPayloadBytes; at += chunkPayloadBytes) {
          yield stream.chunk(whole.subarray(at, at + chunkPayloadBytes));
        }
        parts = [whole.subarray(at)];
        byteCount = whole.length - at;
      }
    }
  }
  for (const last of cut(Buffer.concat([...parts, Buffer.alloc(2)]))) yield stream.chunk(last);
  yield stream.trailer();
}

/** Decodes such a stream from pieces of any size. Throws LogError or StoreError `Corrupt`. */
export class StateStreamReader {
  header: StateHeader | undefined;
  private readonly stream = new CheckedStreamReader();
  private rest: Buffer[] = [];
  private restBytes = 0;
  private neededBytes = 4;
  private ended = false;

  /** Returns the rows that are complete. */
  take(bytes: Buffer): Row[] {
    const rows: Row[] = [];
    for (const payload of this.stream.take(bytes)) {
      this.rest.push(payload);
      this.restBytes += payload.length;
      if (this.restBytes >= this.neededBytes) this.parse(rows);
    }
    return rows;
  }

  /** Whether the stream is complete. */
  finish(): StateHeader & { readonly byteCount: number; readonly checksum: number } {
    const total = this.stream.finish();
    if (!this.ended || !this.header) throw malformed('it ends too early');
    return { ...this.header, ...total };
  }

  private parse(rows: Row[]): void {
    const bytes = this.rest.length === 1 ? this.rest[0]! : Buffer.concat(this.rest);
    let at = this.header ? 0 : this.parseHeader(bytes);
    while (this.header) {
      if (this.ended && at < bytes.length) throw malformed('it continues after its end');
      this.neededBytes = rowBytes(bytes, at);
      const end = at + this.neededBytes;
      if (this.ended || end > bytes.length) break;
      const keyBytes = bytes.readUInt16BE(at);
      if (keyBytes === 0) this.ended = true;
      else {
        const valueStart = at + rowHeaderBytes + keyBytes;
        rows.push([
          bytes.subarray(at + rowHeaderBytes, valueStart),
          bytes.subarray(valueStart, end),
        ]);
      }
      at = end;
    }
    this.rest = at === bytes.length ? [] : [bytes.subarray(at)];
    this.restBytes = bytes.length - at;
  }

  private parseHeader(bytes: Buffer): number {
    const length = bytes.readUInt32BE(0);
    if (length > headerBytesMax) throw malformed('its header is too long');
    this.neededBytes = 4 + length;
    if (bytes.length < this.neededBytes) return 0;
    const { format, facts, sweptRevision } = parseHeader(bytes.toString('utf8', 4, 4 + length));
    if (format !== streamFormat || !facts || sweptRevision === undefined) {
      throw malformed(`it has format ${String(format)}, this program reads ${streamFormat}`);
    }
    if (!Number.isInteger(sweptRevision) || sweptRevision < 0)
      throw malformed('its header is wrong');
    this.header = { facts: checkFacts(facts), sweptRevision };
    return 4 + length;
  }
}

function parseHeader(text: string): Partial<Header> {
  try {
    // A value that is no object has none of the fields.
    return (JSON.parse(text) as Partial<Header> | null) ?? {};
  } catch (error) {
    if (error instanceof SyntaxError) throw malformed('its header is not JSON');
    throw error;
  }
}

function rowHeader([key, value]: Row): Buffer {
  const header = Buffer.allocUnsafe(rowHeaderBytes);
  header.writeUInt16BE(key.length, 0);
  header.writeUInt32BE(value.length, 2);
  return header;
}

/** Returns the size of the row at `at`, as far as the received bytes contain it. */
function rowBytes(bytes: Buffer, at: number): number {
  const left = bytes.length - at;
  if (left < 2) return 2;
  const keyBytes = bytes.readUInt16BE(at);
  if (keyBytes === 0) return 2;
  if (left < rowHeaderBytes) return rowHeaderBytes;
  const valueBytes = bytes.readUInt32BE(at + 2);
  if (valueBytes > 2 * commitBytesMax) throw malformed('a row is too long');
  return rowHeaderBytes + keyBytes + valueBytes;
}

function* cut(whole: Buffer): Generator<Buffer> {
  for (let at = 0; at < whole.length; at += chunkPayloadBytes) {
    yield whole.subarray(at, at + chunkPayloadBytes);
  }
}

function malformed(fault: string): StoreError {
  return new StoreError('Corrupt', `the stream of a state cannot be read: ${fault}`);
}
