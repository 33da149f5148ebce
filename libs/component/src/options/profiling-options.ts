/** Flags of the debug pages that every process serves. */
import { Flag } from './flag.js';

export class ProfilingOptions {
  @Flag({
    name: 'profiling',
    description:
      'serve profiles of CPU and memory under /debug/pprof/ to users who may get these paths; recording a profile slows the process',
    default: true,
  })
  profiling!: boolean;

  @Flag({
    name: 'contention-profiling',
    description:
      'record for how long the event loop is blocked, and serve it at /debug/pprof/block, if --profiling is set; costs a timer of 10 ms',
    default: false,
  })
  contentionProfiling!: boolean;
}
