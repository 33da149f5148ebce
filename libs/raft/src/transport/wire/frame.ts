/**
 * One gRPC message between replicas: the body's CRC32C, then the body. Written into a single
 * buffer, read without copying: the decoded values are slices of the frame.
 */
import { crc32c } from '../../core/log/crc32c.js';
import { type Codec, WireError, WireReader } from './wire-reader.js';
import { lengthDelimitedSize, Sizes, WireWriter } from './wire-writer.js';

const checksumTag = 0x0d;
const bodyTag = 0x12;
/** Tag and checksum, then the tag of the body. */
const headBytes = 6;

/** Throws RangeError when a number in `body` cannot be sent: a fault of the program. */
export function encodeFrame<Body>(codec: Codec<Body>, body: Body): Buffer {
  const sizes = new Sizes();
  const size = codec.size(body, sizes);
  const bytes = Buffer.allocUnsafe(headBytes + lengthDelimitedSize(size));
  const writer = new WireWriter(bytes, sizes);
  writer.uint(checksumTag);
  writer.fixed32(0);
  writer.uint(bodyTag);
  writer.uint(size);
  const bodyAt = writer.at;
  codec.write(body, writer);
  if (writer.at !== bytes.length) throw new RangeError('the frame is not of the size it was given');
  bytes.writeUInt32LE(crc32c(bytes, 0, bodyAt), 1);
  return bytes;
}

/** Throws WireError: the frame is damaged, or not of this kind. */
export function decodeFrame<Body>(codec: Codec<Body>, frame: Buffer): Body {
  const reader = new WireReader(frame);
  let checksum = 0;
  let body: Buffer | undefined;
  while (reader.at < frame.length) {
    const tag = reader.tag();
    if (tag === checksumTag) checksum = reader.fixed32();
    else if (tag === bodyTag) body = reader.bytesOf();
    else reader.skip(tag);
  }
  if (body === undefined) throw new WireError('a frame without body');
  if (crc32c(body) !== checksum) throw new WireError('a frame does not match its checksum');
  return codec.read(new WireReader(body), body.length);
}
