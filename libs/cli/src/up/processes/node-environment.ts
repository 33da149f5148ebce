/**
 * The environment in which `up` runs Node (measured in docs/performance.md).
 *
 * - `--v8-pool-size`: on few cores the threads of the engine, which compile and collect garbage,
 *   compete with the main threads. Each process gets one less than there are cores, and at most
 *   Node's default. More threads delay requests, fewer delay compiled code.
 * - `glibc.malloc.hugetlb`: huge pages save page faults of the C heap, which then grows in steps of
 *   2 MB.
 */
import { availableParallelism } from 'node:os';

/** Node's default. */
const engineThreadsMax = 4;

/** Returns `environment` with these settings; its own ones take precedence. */
export function nodeEnvironment(
  environment: NodeJS.ProcessEnv = process.env,
  cores: number = availableParallelism(),
): NodeJS.ProcessEnv {
  const threads = Math.min(engineThreadsMax, Math.max(1, cores - 1));
  const options = [`--v8-pool-size=${threads}`, environment.NODE_OPTIONS ?? ''];
  return {
    GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
    ...environment,
    // The last of equal options takes effect.
    NODE_OPTIONS: options.join(' ').trim(),
  };
}
