import { once } from 'node:events';
import { connect, createServer, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { isCutOff } from './exchange.js';

describe('a response over HTTP/2', () => {
  it('is cut off once the client has gone, not before', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const request = client.request({ ':path': '/' });
    const [, response] = (await once(server, 'request')) as [unknown, Http2ServerResponse];
    response.write('begun');
    expect(isCutOff(response)).toBe(false);
    const closed = once(response, 'close');
    request.close();
    await closed;
    expect(isCutOff(response)).toBe(true);
    client.destroy();
    server.close();
  });
});
