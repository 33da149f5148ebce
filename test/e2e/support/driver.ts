/** The command line a scenario is driven with; both take the same commands. */
import type { Cluster } from './cluster.js';
import { stockTool } from './kubectl.js';
import { type Outcome, run } from './process.js';

export interface Driver {
  /** Ends with exit code 0 or throws with the output. */
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
