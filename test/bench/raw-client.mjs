/**
 * A minimal HTTP/1.1 client with a persistent connection: requests are prepared bytes, and
 * responses are read by their length or chunks and discarded, so that the client uses little CPU of
 * the machine that it shares with the server.
 */
import { connect } from 'node:tls';

const headEnd = Buffer.from('\r\n\r\n');

export class RawConnection {
  /** `localAddress`: the address of this client, such as `127.0.0.2`. */
  static open(port, localAddress) {
    return new Promise((done, fail) => {
      const target = { host: '127.0.0.1', port, ...(localAddress && { localAddress }) };
      const socket = connect({ ...target, rejectUnauthorized: false });
      socket.setNoDelay(true);
      socket.once('error', fail);
      socket.once('secureConnect', () => {
        socket.removeListener('error', fail);
        done(new RawConnection(socket));
      });
    });
  }

  constructor(socket) {
    this.socket = socket;
    this.pending = undefined;
    socket.on('data', (chunk) => this.take(chunk));
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => this.fail(new Error('the server closed the connection')));
  }

  get isOpen() {
    return !this.socket.destroyed;
  }

  /** Sends a request; resolves with the size of the response body. Rejects for an error status. */
  async send(bytes) {
    const { status, bodyBytes, tail } = await this.exchange(bytes);
    if (status >= 300) throw new Error(`status ${status}: ${tail}`);
    return bodyBytes;
  }

  /** Sends a request; resolves with `status`, `bodyBytes` and, of an error, the text in `tail`. */
  exchange(bytes) {
    return new Promise((done, fail) => {
      this.pending = { done, fail };
      this.state = { inBody: false, status: 0, chunked: false, left: 0, bodyBytes: 0, tail: '' };
      this.socket.write(bytes);
    });
  }

  close() {
    this.pending = undefined;
    this.socket.destroy();
  }

  fail(error) {
    this.pending?.fail(error);
    this.pending = undefined;
  }

  take(chunk) {
    const { state } = this;
    let body = chunk;
    if (!state.inBody) {
      const whole = state.head ? Buffer.concat([state.head, chunk]) : chunk;
      const end = whole.indexOf(headEnd);
      if (end < 0) {
        state.head = whole;
        return;
      }
      const head = whole.latin1Slice(0, end);
      state.inBody = true;
      state.status = Number(head.slice(9, 12));
      const length = /content-length: (\d+)/i.exec(head);
      state.chunked = length === null;
      state.left = length ? Number(length[1]) : 0;
      body = whole.subarray(end + headEnd.length);
    }
    state.bodyBytes += body.length;
    if (state.chunked) {
      state.tail = (state.tail + body.latin1Slice(Math.max(0, body.length - 5))).slice(-5);
      if (state.tail === '0\r\n\r\n') this.finish();
      return;
    }
    if (state.status >= 300) state.tail += body.latin1Slice();
    if (state.bodyBytes >= state.left) this.finish();
  }

  finish() {
    const { pending, state } = this;
    this.pending = undefined;
    pending.done(state);
  }
}

/** Returns the bytes of a request. */
export function requestBytes(method, path, { token, accept, gzip, body, contentType } = {}) {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${token}`];
  if (accept) lines.push(`Accept: ${accept}`);
  if (gzip) lines.push('Accept-Encoding: gzip');
  if (body !== undefined) {
    lines.push(`Content-Type: ${contentType ?? 'application/json'}`);
    lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
}
