/**
 * TCP between real replicas, with faults: every member's advertised peer address is a port of this proxy,
 * which passes on to where the member really listens. A member cannot say who calls it by address alone
 * (all are on this machine), so callers are told apart by the process that owns the other end of a
 * connection. Conditions are set for each direction of each pair, at any time, for open connections too.
 *
 *   const proxy = new FaultProxy();
 *   const port = await proxy.listen('b', { host: '127.0.0.1', port: 7002 });  // advertise this port for b
 *   proxy.identify('a', pidOfA);                                              // again after each restart
 *   proxy.between('a', 'b').set({ delayMs: 75, jitterMs: 50 });               // what a sends to b
 *   proxy.cut('a', 'b');                                                      // one way; both: cut twice
 *   proxy.heal(); await proxy.close();
 */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';

/** Held for one direction of one connection; above it the sender is no longer read from. */
const HELD_BYTES_MAX = 1024 * 1024;
const ANYBODY = '*';

/** What happens to bytes on their way from one member to another. */
export class Conditions {
  /** Added to every piece, and up to that much more at random; order is kept. */
  delayMs = 0;
  jitterMs = 0;
  bytesPerSecond = Number.POSITIVE_INFINITY;
  /** Nothing passes; what was sent waits, as it would with TCP, until it is false again. */
  isBlackHole = false;
  /** New connections are closed at once. */
  isRefusing = false;
  #changed = new Set();

  set(change) {
    for (const name of Object.keys(change)) {
      if (!(name in this)) throw new TypeError(`no condition is called ${name}`);
    }
    Object.assign(this, change);
    for (const listener of this.#changed) listener();
  }

  onChange(listener) {
    this.#changed.add(listener);
    return () => this.#changed.delete(listener);
  }
}

/** One direction of one connection. */
class Pipe {
  #held = [];
  #heldBytes = 0;
  #freeAtMs = 0;
  #lastDueMs = 0;
  #timer;
  #ended = false;
  #stopped = false;

  constructor(source, target, conditions, random) {
    this.source = source;
    this.target = target;
    this.conditions = conditions;
    this.random = random;
    this.stopListening = conditions.onChange(() => this.#schedule());
    source.on('data', (bytes) => this.#take(bytes));
    source.on('end', () => {
      this.#ended = true;
      this.#schedule();
    });
    target.on('drain', () => this.#schedule());
  }

  stop() {
    this.#stopped = true;
    this.stopListening();
    clearTimeout(this.#timer);
  }

  #take(bytes) {
    const { delayMs, jitterMs, bytesPerSecond } = this.conditions;
    const nowMs = performance.now();
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs) + (bytes.length / bytesPerSecond) * 1000;
    const dueMs = this.#freeAtMs + delayMs + this.random() * jitterMs;
    this.#lastDueMs = Math.max(this.#lastDueMs, dueMs);
    this.#held.push({ dueMs: this.#lastDueMs, bytes });
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > HELD_BYTES_MAX) this.source.pause();
    this.#schedule();
  }

  #schedule() {
    clearTimeout(this.#timer);
    if (this.#stopped || this.conditions.isBlackHole) return;
    while (this.#held.length > 0 && !this.target.writableNeedDrain) {
      const waitMs = this.#held[0].dueMs - performance.now();
      if (waitMs > 0.5) {
        this.#timer = setTimeout(() => this.#schedule(), waitMs);
        return;
      }
      const { bytes } = this.#held.shift();
      this.#heldBytes -= bytes.length;
      this.target.write(bytes);
    }
    if (this.#heldBytes <= HELD_BYTES_MAX) this.source.resume();
    if (this.#ended && this.#held.length === 0) this.target.end();
  }
}

export class FaultProxy {
  #servers = new Map();
  #conditions = new Map();
  #connections = new Set();
  #pids = new Map();

  /** `random`: uniform in [0, 1), for jitter. */
  constructor({ random = Math.random } = {}) {
    this.random = random;
  }

  /** Resolves with the port at which `member`, who listens at `target`, is reached through the proxy. */
  async listen(member, target, port = 0) {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      this.#accept(member, target, socket).catch((error) => socket.destroy(error));
    });
    await new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    this.#servers.set(member, server);
    return server.address().port;
  }

  /** Connections of process `pid` are those of `member`. */
  identify(member, pid) {
    this.#pids.set(pid, member);
  }

  /** What `from` sends to `to`. `*` as `from`: callers whose process is not identified. */
  between(from, to) {
    const key = `${from}>${to}`;
    let conditions = this.#conditions.get(key);
    if (!conditions) {
      conditions = new Conditions();
      this.#conditions.set(key, conditions);
    }
    return conditions;
  }

  /** Nothing that `from` says reaches `to`, on whichever connection. */
  cut(from, to) {
    this.between(from, to).set({ isBlackHole: true });
  }

  /** Nothing passes between members of different groups. */
  partition(groups) {
    for (const group of groups) {
      for (const other of groups) {
        if (group === other) continue;
        for (const from of group) for (const to of other) this.cut(from, to);
      }
    }
  }

  /** Ends black holes and refusals; delays and bandwidth stay. */
  heal() {
    for (const conditions of this.#conditions.values()) {
      conditions.set({ isBlackHole: false, isRefusing: false });
    }
  }

  /** Resets the open connections between two members, or all. Returns how many. */
  drop(one = ANYBODY, other = ANYBODY) {
    const matches = (name, wanted) => wanted === ANYBODY || name === wanted;
    let count = 0;
    for (const connection of this.#connections) {
      const { from, to } = connection;
      const isMeant =
        (matches(from, one) && matches(to, other)) || (matches(from, other) && matches(to, one));
      if (!isMeant) continue;
      connection.reset();
      count += 1;
    }
    return count;
  }

  /** Who is connected to whom, as `from>to`. */
  get open() {
    return [...this.#connections].map(({ from, to }) => `${from}>${to}`);
  }

  async close() {
    this.drop();
    await Promise.all(
      [...this.#servers.values()].map((server) => new Promise((resolve) => server.close(resolve))),
    );
  }

  async #accept(to, target, socket) {
    socket.on('error', () => socket.destroy());
    const from = await this.#callerOf(socket);
    const forward = this.between(from, to);
    if (forward.isRefusing || socket.destroyed) {
      socket.resetAndDestroy();
      return;
    }
    const onward = connect({ ...target, allowHalfOpen: true });
    const pipes = [
      new Pipe(socket, onward, forward, this.random),
      new Pipe(onward, socket, this.between(to, from), this.random),
    ];
    const connection = {
      from,
      to,
      reset: () => {
        this.#connections.delete(connection);
        for (const pipe of pipes) pipe.stop();
        socket.resetAndDestroy();
        onward.resetAndDestroy();
      },
    };
    this.#connections.add(connection);
    for (const end of [socket, onward]) {
      end.setNoDelay(true);
      end.on('error', connection.reset);
      end.on('close', connection.reset);
    }
    socket.resume();
  }

  /** The member whose process holds the other end of `socket`. */
  async #callerOf(socket) {
    if (this.#pids.size === 0) return ANYBODY;
    const inode = await inodeOf(socket.remotePort, socket.localPort);
    if (inode === undefined) return ANYBODY;
    for (const [pid, member] of this.#pids) {
      if (await holds(pid, inode)) return member;
    }
    return ANYBODY;
  }
}

/** Of the socket from `localPort` to `remotePort` on this machine, by the kernel's table. */
async function inodeOf(localPort, remotePort) {
  const hex = (port) => port.toString(16).toUpperCase().padStart(4, '0');
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of (await readFile(table, 'utf8')).split('\n').slice(1)) {
      const [, local, remote, , , , , , , inode] = line.trim().split(/\s+/);
      if (local?.endsWith(`:${hex(localPort)}`) && remote.endsWith(`:${hex(remotePort)}`)) {
        return inode;
      }
    }
  }
  return undefined;
}

async function holds(pid, inode) {
  let descriptors;
  try {
    descriptors = await readdir(`/proc/${pid}/fd`);
  } catch (error) {
    // A process that has ended holds nothing.
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return false;
    throw error;
  }
  for (const descriptor of descriptors) {
    const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
    if (target === `socket:[${inode}]`) return true;
  }
  return false;
}
