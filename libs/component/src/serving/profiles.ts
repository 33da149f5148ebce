/** Profiles of the running process, in the form that the usual tools of the runtime open. */
import { Session } from 'node:inspector/promises';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { sleep } from '../lifecycle/deadline.js';
import { profileSecondsMax } from '../limits.js';

let running = false;

/** A CPU profile (`.cpuprofile`) over `seconds`, bounded; one at a time. */
export async function cpuProfile(seconds: number): Promise<object> {
  if (running) throw new Error('a profile is being taken');
  const boundedSeconds = Number.isFinite(seconds)
    ? Math.min(Math.max(seconds, 1), profileSecondsMax)
    : 1;
  const session = new Session();
  running = true;
  try {
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    await sleep(boundedSeconds * 1_000);
    const { profile } = await session.post('Profiler.stop');
    return profile;
  } finally {
    session.disconnect();
    running = false;
  }
}

/** Sizes of the heap and of the memory outside it, in bytes. */
export function heapStatistics(): object {
  return {
    memory: process.memoryUsage(),
    heap: getHeapStatistics(),
    spaces: getHeapSpaceStatistics(),
  };
}
