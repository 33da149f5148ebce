/**
 * A stream of bytes in checked pieces, as snapshots travel and backup files are made: each chunk carries
 * its sequence number, length and CRC32C, and a trailer the total. So what is cut short, repeated, left
 * out or flipped is found, whatever carries the stream and however it divides it.
 *
 *   chunk:   u32 checksum of what follows | u32 sequence | u32 payload bytes | payload
 *   trailer: a chunk of length 0xffffffff with u64 total bytes | u32 CRC32C over all payloads
 */
import { crc32c } from '../crc32c.js';
import { LogError } from '../replicated-log.js';

/** A whole chunk. Higher: more memory on both sides; lower: more overhead. */
export const SNAPSHOT_CHUNK_BYTES = 256 * 1024;
const HEADER_BYTES = 12;
const TRAILER_LENGTH = 0xffff_ffff;
const TRAILER_BYTES = 12;
export const CHUNK_PAYLOAD_BYTES = SNAPSHOT_CHUNK_BYTES - HEADER_BYTES;

export class CheckedStreamWriter {
  #sequence = 0;
  #byteCount = 0;
  #checksum = 0;

  /** `payload` has at most `CHUNK_PAYLOAD_BYTES`. */
  chunk(payload: Buffer): Buffer {
    if (payload.length > CHUNK_PAYLOAD_BYTES) {
      throw new RangeError(`a chunk carries ${CHUNK_PAYLOAD_BYTES} bytes, not ${payload.length}`);
    }
    this.#byteCount += payload.length;
    this.#checksum = crc32c(payload, this.#checksum);
    return this.#frame(payload.length, payload);
  }

  /** Ends the stream. */
  trailer(): Buffer {
    const total = Buffer.alloc(TRAILER_BYTES);
    total.writeBigUInt64BE(BigInt(this.#byteCount), 0);
    total.writeUInt32BE(this.#checksum, 8);
    return this.#frame(TRAILER_LENGTH, total);
  }

  #frame(length: number, payload: Buffer): Buffer {
    const frame = Buffer.allocUnsafeSlow(HEADER_BYTES + payload.length);
    frame.writeUInt32BE(this.#sequence, 4);
    frame.writeUInt32BE(length, 8);
    payload.copy(frame, HEADER_BYTES);
    frame.writeUInt32BE(crc32c(frame, 0, 4), 0);
    this.#sequence += 1;
    return frame;
  }
}

export class CheckedStreamReader {
  #rest: Buffer = Buffer.alloc(0);
  #sequence = 0;
  #byteCount = 0;
  #checksum = 0;
  #ended = false;

  /** Payloads that are complete by now. Throws LogError `Corrupt`. */
  take(bytes: Buffer): Buffer[] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const payloads: Buffer[] = [];
    let at = 0;
    while (this.#rest.length - at >= HEADER_BYTES) {
      const length = this.#rest.readUInt32BE(at + 8);
      const payloadBytes = length === TRAILER_LENGTH ? TRAILER_BYTES : length;
      if (payloadBytes > CHUNK_PAYLOAD_BYTES || this.#ended) throw damaged(this.#sequence);
      const end = at + HEADER_BYTES + payloadBytes;
      if (end > this.#rest.length) break;
      const payload = this.#checked(at, end);
      if (length === TRAILER_LENGTH) this.#end(payload);
      else {
        this.#byteCount += payload.length;
        this.#checksum = crc32c(payload, this.#checksum);
        payloads.push(payload);
      }
      at = end;
    }
    this.#rest = this.#rest.subarray(at);
    return payloads;
  }

  /** All of it has come: its payload bytes and their checksum. Throws LogError `Corrupt` when it has not. */
  finish(): { readonly byteCount: number; readonly checksum: number } {
    if (!this.#ended || this.#rest.length > 0) {
      throw new LogError('Corrupt', 'the stream was cut short');
    }
    return { byteCount: this.#byteCount, checksum: this.#checksum };
  }

  #checked(start: number, end: number): Buffer {
    const frame = this.#rest.subarray(start, end);
    const matches = crc32c(frame, 0, 4) === frame.readUInt32BE(0);
    if (!matches || frame.readUInt32BE(4) !== this.#sequence) throw damaged(this.#sequence);
    this.#sequence += 1;
    return frame.subarray(HEADER_BYTES);
  }

  #end(total: Buffer): void {
    const byteCount = Number(total.readBigUInt64BE(0));
    if (byteCount !== this.#byteCount || total.readUInt32BE(8) !== this.#checksum) {
      throw new LogError('Corrupt', 'the stream as a whole does not match its checksum');
    }
    this.#ended = true;
  }
}

function damaged(sequence: number): LogError {
  return new LogError('Corrupt', `chunk ${sequence} of the stream is damaged or not the next one`);
}
