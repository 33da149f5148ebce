/** Watches that count their events. Many share one process, so nothing is parsed. */
import { connect as connectHttp2 } from 'node:http2';
import { performance } from 'node:perf_hooks';
import { connect } from 'node:tls';
import { requestBytes } from './raw-client.mjs';

const openConcurrency = 50;
const reachedPollMs = 2;

/** Called with the time of each event, if set. */
let onEvent;

/** Counts line ends: every event is one line, and the payload contains no line end. */
class EventCount {
  count = 0;

  add(chunk, from = 0) {
    const before = this.count;
    for (let at = chunk.indexOf(0x0a, from); at >= 0; at = chunk.indexOf(0x0a, at + 1)) {
      // Event lines end with a brace, lines of chunk frames with a carriage return.
      if (at > 0 ? chunk[at - 1] === 0x7d : this.lastByte === 0x7d) this.count += 1;
    }
    this.lastByte = chunk[chunk.length - 1];
    if (!onEvent || this.count === before) return;
    const atMs = performance.now();
    for (let counted = before; counted < this.count; counted += 1) onEvent(atMs);
  }
}

async function reached(counters, goal) {
  for (;;) {
    let total = 0;
    for (const counter of counters) total += counter.count;
    if (total >= goal) return;
    await new Promise((done) => setTimeout(done, reachedPollMs));
  }
}

function watchersOf(counters, close) {
  return {
    watcherCount: counters.length,
    reached: (goal) => reached(counters, goal),
    onEvent(listener) {
      onEvent = listener;
    },
    close,
  };
}

/** Opens each watch on a connection of its own. */
export async function openWatchers({ port, token, path }, watcherCount) {
  const counters = [];
  const sockets = [];
  const open = () =>
    new Promise((done, fail) => {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
      const counter = new EventCount();
      sockets.push(socket);
      counters.push(counter);
      socket.once('error', fail);
      socket.once('secureConnect', () => socket.write(requestBytes('GET', path, { token })));
      let begun = false;
      socket.on('data', (chunk) => {
        counter.add(chunk);
        if (!begun) done();
        begun = true;
      });
    });
  while (sockets.length < watcherCount) {
    const more = Math.min(openConcurrency, watcherCount - sockets.length);
    await Promise.all(Array.from({ length: more }, open));
  }
  return watchersOf(counters, () => {
    for (const socket of sockets) socket.destroy();
  });
}

/** Opens the watches as streams of `sessionCount` HTTP/2 connections. */
export async function openHttp2Watchers({ port, token, path }, watcherCount, sessionCount) {
  const counters = [];
  const sessions = Array.from({ length: sessionCount }, () =>
    connectHttp2(`https://127.0.0.1:${port}`, {
      rejectUnauthorized: false,
      settings: { initialWindowSize: 1 << 20 },
    }),
  );
  for (const session of sessions) {
    session.setMaxListeners(0);
    await new Promise((done, fail) => session.once('connect', done).once('error', fail));
    session.setLocalWindowSize(1 << 26);
  }
  const open = (index) =>
    new Promise((done, fail) => {
      const stream = sessions[index % sessionCount].request({
        ':path': path,
        authorization: `Bearer ${token}`,
      });
      const counter = new EventCount();
      counters.push(counter);
      stream.once('error', fail);
      stream.once('response', done);
      stream.on('data', (chunk) => counter.add(chunk));
    });
  for (let opened = 0; opened < watcherCount; opened += openConcurrency) {
    const more = Math.min(openConcurrency, watcherCount - opened);
    await Promise.all(Array.from({ length: more }, (_, index) => open(opened + index)));
  }
  return watchersOf(counters, () => {
    for (const session of sessions) session.destroy();
  });
}
