/**
 * A minimal etcd client: gRPC frames over HTTP/2 with prepared requests and many requests in
 * flight, so that the client is not the bottleneck. One connection for every 64 callers.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { serve } from './child.mjs';
import { body, during, newKeys, repeat } from './store-load.mjs';

const callersOfAConnection = 64;

serve(({ endpoint, authorityFile, certificateFile, keyFile }) => {
  const [ca, cert, key] = [authorityFile, certificateFile, keyFile].map((file) =>
    readFileSync(file),
  );
  const sessions = [];

  /** Returns a function that sends calls, round-robin over the connections. */
  async function callsFor(callers) {
    while (sessions.length * callersOfAConnection < callers) {
      const session = connect(endpoint, { ca, cert, key, servername: 'localhost' });
      await new Promise((done, fail) => session.once('connect', done).once('error', fail));
      sessions.push(session);
    }
    const count = Math.ceil(callers / callersOfAConnection);
    let next = 0;
    return (path, frame) => {
      next = (next + 1) % count;
      return call(sessions[next], path, frame);
    };
  }

  return {
    commands: {
      async commits({ callers, seconds }) {
        const send = await callsFor(callers);
        const nextKey = newKeys('plain');
        const put = () => send('/etcdserverpb.KV/Put', putFrame(nextKey()));
        return repeat(callers, during(seconds), put);
      },

      async reads({ callers, seconds }) {
        const send = await callsFor(callers);
        const key = newKeys('plain')();
        await send('/etcdserverpb.KV/Put', putFrame(key));
        // Reads are linearizable by default.
        const range = frameOf(field(1, Buffer.from(key)));
        return repeat(callers, during(seconds), () => send('/etcdserverpb.KV/Range', range));
      },
    },
    end() {
      for (const session of sessions) session.close();
    },
  };
});

/** Resolves when the call has succeeded. The response is discarded. */
function call(session, path, frame) {
  return new Promise((done, fail) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    let outcome = 'no status';
    const note = (headers) => {
      if (headers['grpc-status'] !== undefined) {
        outcome = `${headers['grpc-status']} ${headers['grpc-message'] ?? ''}`;
      }
    };
    stream.on('response', note);
    stream.on('trailers', note);
    stream.on('error', fail);
    stream.on('close', () => {
      if (outcome.startsWith('0')) done();
      else fail(new Error(`${path}: ${outcome}`));
    });
    stream.resume();
    stream.end(frame);
  });
}

function putFrame(key) {
  return frameOf(Buffer.concat([field(1, Buffer.from(key)), field(2, body)]));
}

/** Encodes a protobuf field of bytes. */
function field(number, bytes) {
  return Buffer.concat([Buffer.of((number << 3) | 2), varint(bytes.length), bytes]);
}

function varint(value) {
  const bytes = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}

/** Encodes a gRPC frame: compression flag 0, length, message. */
function frameOf(message) {
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  message.copy(frame, 5);
  return frame;
}
