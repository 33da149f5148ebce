import { once } from 'node:events';
import { connect, createServer, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { isClosed } from './respond.js';

describe('a response over HTTP/2', () => {
  it('is aborted when the client disconnects, not before', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const request = client.request({ ':path': '/' });
    const [, response] = (await once(server, 'request')) as [unknown, Http2ServerResponse];
    response.write('begun');
    expect(isClosed(response)).toBe(false);
    const closed = once(response, 'close');
    request.close();
    await closed;
    expect(isClosed(response)).toBe(true);
    client.destroy();
    server.close();
  });
});
