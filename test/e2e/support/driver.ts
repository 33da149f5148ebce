/** The command line of a scenario; both accept the same commands. */
import type { Cluster } from './cluster.js';
import { stockTool } from './kubectl.js';
import { type Outcome, run } from './process.js';

export interface Driver {
  /** Throws an error with the output unless the exit code is 0. */
  must(...args: string[]): Promise<string>;
  try(...args: string[]): Promise<Outcome>;
  /** With the text as standard input, for `-f -`. */
  pipe(input: string, ...args: string[]): Promise<string>;
}

export function driverFor(cluster: Cluster, tool: 'orchctl' | 'kubectl'): Driver {
  const invoke = (args: string[], input?: string): Promise<Outcome> => {
    if (tool === 'orchctl') return cluster.orchctl(args, input);
    const all = ['--kubeconfig', cluster.kubeconfig, ...args];
    return run(stockTool('kubectl'), all, input === undefined ? {} : { input });
  };
  const check = (args: string[], { code, stdout, stderr }: Outcome): string => {
    if (code !== 0) throw new Error(`${tool} ${args.join(' ')}: ${code}\n${stdout}\n${stderr}`);
    return stdout;
  };
  return {
    must: async (...args) => check(args, await invoke(args)),
    try: (...args) => invoke(args),
    pipe: async (input, ...args) => check(args, await invoke(args, input)),
  };
}
