import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerClientError } from './client-errors.js';

describe('a client that does not speak HTTP', () => {
  const server = createServer({ maxHeaderSize: 4_096 }, (_, response) => {
    response.writeHead(200);
    response.write('begun');
  });
  server.on('clientError', answerClientError);
  beforeAll(() => new Promise<void>((done) => server.listen(0, '127.0.0.1', done)));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  function say(text: string): Promise<string> {
    return new Promise((done, fail) => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () =>
        socket.write(text),
      );
      let heard = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        heard += chunk;
      });
      socket.on('error', fail).on('close', () => done(heard));
    });
  }

  it.each([
    ['GARBAGE\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(8_192)}\r\n\r\n`, 431],
  ])('is told so in a Status, and cut off: %j', async (text, code) => {
    const [head, body] = (await say(text)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${code} `));
    expect(JSON.parse(body ?? '')).toMatchObject({ kind: 'Status', status: 'Failure', code });
  });

  it('gets nothing into an answer that has begun', async () => {
    const heard = await say('GET / HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\r\n\r\n');
    expect(heard).not.toContain('Status');
  });
});
