/** Reads the whole body of a response to a request of this server itself. */

/** Returns the body. Rejects with an Error if it is longer than `bytesMax`. */
export async function bodyOf(response: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error(`the response is longer than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
