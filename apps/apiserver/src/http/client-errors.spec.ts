import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { respondToClientError } from './client-errors.js';

describe('a client that does not send HTTP', () => {
  const server = createServer({ maxHeaderSize: 4_096 }, (_, response) => {
    response.writeHead(200);
    response.write('begun');
  });
  server.on('clientError', respondToClientError);
  beforeAll(() => new Promise<void>((done) => server.listen(0, '127.0.0.1', done)));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  function send(text: string): Promise<string> {
    return new Promise((done, fail) => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () =>
        socket.write(text),
      );
      let received = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        received += chunk;
      });
      socket.on('error', fail).on('close', () => done(received));
    });
  }

  it.each([
    ['GARBAGE\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(8_192)}\r\n\r\n`, 431],
  ])('receives a Status, then the connection is closed: %j', async (text, code) => {
    const [head, body] = (await send(text)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${code} `));
    expect(JSON.parse(body ?? '')).toMatchObject({ kind: 'Status', status: 'Failure', code });
  });

  it('receives no Status within a response that has begun', async () => {
    const received = await send('GET / HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\r\n\r\n');
    expect(received).not.toContain('Status');
  });
});
