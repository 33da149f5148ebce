/**
 * The load on a store, the same for every kind of store: writers that create objects sequentially,
 * and readers that get the same object repeatedly.
 */
import { performance } from 'node:perf_hooks';
import { percentile } from './row.mjs';

export const objectBytes = 1_024;
const timeoutMs = 30_000;
const quorum = { consistency: { kind: 'quorum' }, timeoutMs };

/** The stored object; the revision is inserted after `{"rv":"`. */
export const body = Buffer.from(`{"rv":"","data":"${'x'.repeat(objectBytes - 20)}"}`);
const revisionOffset = 7;

let runs = 0;

/** Returns a function that generates unique keys. */
export function newKeys(name) {
  runs += 1;
  const prefix = `core/configmaps/${name}-${process.pid}-${runs}/`;
  let sequence = 0;
  return () => {
    sequence += 1;
    return `${prefix}${String(sequence).padStart(9, '0')}`;
  };
}

function put(key) {
  return { kind: 'put', key, bytes: body, revisionOffset, expect: { kind: 'absent' } };
}

/**
 * Runs `once` repeatedly in each of `callers` while `isRunning`, with pauses. Latencies exclude the
 * pauses.
 */
export async function repeat(callers, isRunning, once, pauseMs = 0) {
  const latencies = [];
  const startedMs = performance.now();
  let lastEndMs = startedMs;
  let stallMs = 0;
  const caller = async () => {
    while (isRunning()) {
      const beganMs = performance.now();
      await once();
      const nowMs = performance.now();
      latencies.push(nowMs - beganMs);
      stallMs = Math.max(stallMs, nowMs - lastEndMs);
      lastEndMs = nowMs;
      if (pauseMs > 0) await new Promise((done) => setTimeout(done, pauseMs));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return summary(latencies, performance.now() - startedMs, stallMs);
}

/** Returns a function that returns true for `seconds` from now. */
export function during(seconds) {
  const endMs = performance.now() + seconds * 1_000;
  return () => performance.now() < endMs;
}

/** Summarizes latencies. `stallMs` is the longest time without a completed operation. */
function summary(latencies, durationMs, stallMs) {
  latencies.sort((left, right) => left - right);
  return {
    count: latencies.length,
    perSecond: (latencies.length * 1_000) / durationMs,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: latencies.at(-1),
    stallMs,
  };
}

/** Returns the commands of a process with a store. */
export function storeCommands(store) {
  let background;
  const commit = (key) => store.commit([put(key)], timeoutMs);
  const commits = async ({ callers, seconds }) => {
    const nextKey = newKeys('commits');
    return repeat(callers, during(seconds), () => commit(nextKey()));
  };

  return {
    commits,

    /** Measures quorum reads of one object. */
    async reads({ callers, seconds }) {
      const key = newKeys('reads')();
      await commit(key);
      const read = async () => {
        const { entry } = await store.get(key, quorum);
        if (!entry) throw new Error('a quorum read does not return a committed object');
      };
      return repeat(callers, during(seconds), read);
    },

    async fill({ count }) {
      const nextKey = newKeys('fill');
      let left = count;
      const filler = async () => {
        while (left > 0) {
          left -= 1;
          await commit(nextKey());
        }
      };
      await Promise.all(Array.from({ length: 256 }, filler));
    },

    /** Commits concurrently to other commands, until `endCommits`. */
    beginCommits({ callers, pauseMs = 0 }) {
      const nextKey = newKeys('background');
      let isRunning = true;
      const figures = repeat(
        callers,
        () => isRunning,
        () => commit(nextKey()),
        pauseMs,
      );
      background = {
        figures,
        stop() {
          isRunning = false;
        },
      };
    },

    async endCommits() {
      background.stop();
      return background.figures;
    },

    status() {
      const { ready, revision, keyCount } = store.status();
      return { ready, revision, keyCount };
    },
  };
}
