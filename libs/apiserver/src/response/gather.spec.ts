import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../http/request-context.js';
import { gatherBlockBytes } from '../limits.js';
import { testContext } from '../testing/test-context.js';
import { type Gathered, sendGathered } from './gather.js';

function gathered(sizes: readonly number[]): { gathered: Gathered; text: string } {
  const items = sizes.map((size, index) => Buffer.from(`#${String(index % 10).repeat(size)}`));
  const head = Buffer.from('[');
  const tail = Buffer.from(']');
  const text = `[${items.map((item) => item.subarray(1).toString()).join(',')}]`;
  return {
    text,
    gathered: {
      head,
      tail,
      itemCount: items.length,
      itemHeadBytesMax: 1,
      writeItemHead(index, block, at) {
        if (index > 0) block[at] = 0x2c;
        return index > 0 ? at + 1 : at;
      },
      item: (index) => items[index]!,
      itemFrom: 1,
      totalBytes: text.length,
    },
  };
}

/** What a client gets; the context has counted its bytes as they were sent. */
async function fetched(sizes: readonly number[], gzip: boolean): Promise<string> {
  let context: RequestContext | undefined;
  const server = createServer((request, response) => {
    context = testContext(request, response);
    void sendGathered(context, 'application/json', gathered(sizes).gathered, 5_000);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const headers = gzip ? { 'accept-encoding': 'gzip' } : {};
    const outgoing = get({ host: '127.0.0.1', port, headers, agent: false });
    const [answer] = await once(outgoing, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    expect(context?.bodyBytes).toBe(body.length);
    return (answer.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
  } finally {
    server.close();
  }
}

describe('gathered responses', () => {
  const large = Array.from({ length: 900 }, (_, index) => (index * 37) % 2_000);

  it.each([
    ['nothing', []],
    ['one block', [10, 0, 20]],
    ['many blocks', large],
    ['an item larger than a block', [5, gatherBlockBytes * 2 + 17, 3]],
    ['items that end with the block', [gatherBlockBytes - 1, gatherBlockBytes - 1, 1]],
  ])('carry %s', async (_, sizes) => {
    expect((await fetched(sizes, false)) === gathered(sizes).text).toBe(true);
  });

  it('are compressed if the client accepts gzip', async () => {
    expect((await fetched(large, true)) === gathered(large).text).toBe(true);
  });
});
