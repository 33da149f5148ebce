/** Profiles of the running process, in the formats of Node.js tools. */
import { Session } from 'node:inspector/promises';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { sleep } from '../lifecycle/deadline.js';
import { profileSecondsMax } from '../limits.js';

/** Only one profile can be recorded at a time. */
export class ProfileRunningError extends Error {
  override readonly name = 'ProfileRunningError';
  readonly code = 'profile-running';

  constructor() {
    super('another profile is being recorded');
  }
}

let running = false;

/**
 * Records a CPU profile (`.cpuprofile`) for `seconds`, within limits. Rejects with
 * ProfileRunningError while another profile is recorded.
 */
export function cpuProfile(seconds: number): Promise<object> {
  return record(async (session) => {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    await sleep(boundedMs(seconds));
    return (await session.post('Profiler.stop')).profile;
  });
}

/**
 * Records the allocations of `seconds`, within limits, that are not collected at the end
 * (`.heapprofile`). Rejects with ProfileRunningError while another profile is recorded.
 */
export function allocationProfile(seconds: number): Promise<object> {
  return record(async (session) => {
    await session.post('HeapProfiler.enable');
    await session.post('HeapProfiler.startSampling');
    await sleep(boundedMs(seconds));
    return (await session.post('HeapProfiler.stopSampling')).profile;
  });
}

async function record(work: (session: Session) => Promise<object>): Promise<object> {
  if (running) throw new ProfileRunningError();
  const session = new Session();
  running = true;
  try {
    session.connect();
    return await work(session);
  } finally {
    session.disconnect();
    running = false;
  }
}

function boundedMs(seconds: number): number {
  const bounded = Number.isFinite(seconds) ? Math.min(Math.max(seconds, 1), profileSecondsMax) : 1;
  return bounded * 1_000;
}

/** Returns the sizes of the heap and of external memory, in bytes. */
export function heapStatistics(): object {
  return {
    memory: process.memoryUsage(),
    heap: getHeapStatistics(),
    spaces: getHeapSpaceStatistics(),
  };
}
