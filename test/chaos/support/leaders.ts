/** Reads the leader of each term from the servers' logs: failovers, and terms with two leaders. */
import { existsSync, readFileSync } from 'node:fs';
import type { ChaosCluster } from './chaos-cluster.js';

export interface Leaders {
  readonly terms: ReadonlyMap<number, string>;
  readonly conflicts: readonly string[];
}

const becameLeader = /leadership changed term=(\d+) .*\brole=leader\b/g;

export function leadersByTerm({ members }: ChaosCluster): Leaders {
  const terms = new Map<number, string>();
  const conflicts: string[] = [];
  for (const { name, process } of members) {
    if (!existsSync(process.logFile)) continue;
    for (const [, text] of readFileSync(process.logFile, 'utf8').matchAll(becameLeader)) {
      const term = Number(text);
      const other = terms.get(term);
      if (other !== undefined && other !== name) conflicts.push(`${term}: ${other} and ${name}`);
      terms.set(term, name);
    }
  }
  return { terms, conflicts };
}
