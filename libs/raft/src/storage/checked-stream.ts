/**
 * A byte stream in checked chunks, for snapshots and backup files: each chunk carries its sequence
 * number, length and CRC32C, and a trailer the total. Truncated, repeated, missing and flipped
 * bytes are detected, independent of the transport and of how it divides the stream.
 *
 * chunk: u32 checksum of the rest | u32 sequence | u32 payload bytes | payload
 *
 * trailer: a chunk of length 0xffffffff with u64 total bytes | u32 CRC32C over all payloads
 */
import { crc32c } from '../core/log/crc32c.js';
import { LogError } from '../replicated-log.js';

/** A whole chunk. Higher: more memory on both sides; lower: more overhead. */
export const snapshotChunkBytes = 256 * 1024;
const headerBytes = 12;
const trailerLength = 0xffff_ffff;
const trailerBytes = 12;
export const chunkPayloadBytes = snapshotChunkBytes - headerBytes;

export class CheckedStreamWriter {
  private sequence = 0;
  private byteCount = 0;
  private checksum = 0;

  /** `payload` has at most `chunkPayloadBytes`. */
  chunk(payload: Buffer): Buffer {
    if (payload.length > chunkPayloadBytes) {
      throw new RangeError(`a chunk carries ${chunkPayloadBytes} bytes, not ${payload.length}`);
    }
    this.byteCount += payload.length;
    this.checksum = crc32c(payload, this.checksum);
    return this.frame(payload.length, payload);
  }

  /** Ends the stream. */
  trailer(): Buffer {
    const total = Buffer.alloc(trailerBytes);
    total.writeBigUInt64BE(BigInt(this.byteCount), 0);
    total.writeUInt32BE(this.checksum, 8);
    return this.frame(trailerLength, total);
  }

  private frame(length: number, payload: Buffer): Buffer {
    const frame = Buffer.allocUnsafeSlow(headerBytes + payload.length);
    frame.writeUInt32BE(this.sequence, 4);
    frame.writeUInt32BE(length, 8);
    payload.copy(frame, headerBytes);
    frame.writeUInt32BE(crc32c(frame, 0, 4), 0);
    this.sequence += 1;
    return frame;
  }
}

export class CheckedStreamReader {
  private rest: Buffer = Buffer.alloc(0);
  private sequence = 0;
  private byteCount = 0;
  private checksum = 0;
  private ended = false;

  /** Payloads that are complete by now. Throws LogError `Corrupt`. */
  take(bytes: Buffer): Buffer[] {
    this.rest = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    const payloads: Buffer[] = [];
    let at = 0;
    while (this.rest.length - at >= headerBytes) {
      const length = this.rest.readUInt32BE(at + 8);
      const payloadBytes = length === trailerLength ? trailerBytes : length;
      if (payloadBytes > chunkPayloadBytes || this.ended) throw damaged(this.sequence);
      const end = at + headerBytes + payloadBytes;
      if (end > this.rest.length) break;
      const payload = this.checked(at, end);
      if (length === trailerLength) this.end(payload);
      else {
        this.byteCount += payload.length;
        this.checksum = crc32c(payload, this.checksum);
        payloads.push(payload);
      }
      at = end;
    }
    this.rest = this.rest.subarray(at);
    return payloads;
  }

  /**
   * All of it has come: its payload bytes and their checksum. Throws LogError `Corrupt` when it has
   * not.
   */
  finish(): { readonly byteCount: number; readonly checksum: number } {
    if (!this.ended || this.rest.length > 0) {
      throw new LogError('Corrupt', 'the stream ends too early');
    }
    return { byteCount: this.byteCount, checksum: this.checksum };
  }

  private checked(start: number, end: number): Buffer {
    const frame = this.rest.subarray(start, end);
    const matches = crc32c(frame, 0, 4) === frame.readUInt32BE(0);
    if (!matches || frame.readUInt32BE(4) !== this.sequence) throw damaged(this.sequence);
    this.sequence += 1;
    return frame.subarray(headerBytes);
  }

  private end(total: Buffer): void {
    const byteCount = Number(total.readBigUInt64BE(0));
    if (byteCount !== this.byteCount || total.readUInt32BE(8) !== this.checksum) {
      throw new LogError('Corrupt', 'the stream as a whole does not match its checksum');
    }
    this.ended = true;
  }
}

function damaged(sequence: number): LogError {
  return new LogError('Corrupt', `chunk ${sequence} of the stream is damaged or not the next one`);
}
