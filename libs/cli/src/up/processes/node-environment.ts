/**
 * The environment in which `up` runs Node. On few cores the threads of the engine, which compile
 * and collect garbage, compete with the main threads: `--v8-pool-size` gives each process one less
 * than there are cores, and at most Node's default of four. More threads delay requests, fewer delay
 * compiled code. Huge pages save page faults of the C heap, which is a tenth of the CPU time of a
 * busy server; `glibc.malloc.hugetlb=0` uses less memory in processes that free much of it.
 */
import { availableParallelism } from 'node:os';

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
