/** Assembles an OpenAPI document. */
import { createHash } from 'node:crypto';
import { RenderedDocument } from '../response/rendered-document.js';
import { inSlices } from '../response/sliced.js';
import { documentBytesMax } from './limits.js';

/** Assembles a document from its parts. Throws RangeError if it is too long. */
export async function renderDocument(
  parts: Iterable<string | Uint8Array>,
  contentType: string,
  nowMs: () => number,
): Promise<RenderedDocument> {
  const chunks: Uint8Array[] = [];
  const hash = createHash('sha256');
  let bytes = 0;
  const take = (part: string | Uint8Array) => {
    const chunk = typeof part === 'string' ? Buffer.from(part) : part;
    bytes += chunk.length;
    if (bytes > documentBytesMax)
      throw new RangeError(`the OpenAPI document is longer than ${documentBytesMax} bytes`);
    hash.update(chunk);
    chunks.push(chunk);
  };
  await inSlices(parts, take, nowMs);
  return new RenderedDocument(Buffer.concat(chunks), contentType, hash.digest('hex'));
}
