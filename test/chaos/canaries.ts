/**
 * Bugs planted in the built server. A scenario must find each of them by the named rule; a check
 * that misses its bug does not work.
 */
import { rmSync } from 'node:fs';
import { runScenario } from './run-scenario.js';
import { scenarioCalled } from './scenarios/index.js';
import { type Edits, makeBuild } from './support/other-build.js';

interface Canary extends Edits {
  readonly name: string;
  readonly scenario: string;
  /** Rule of the expected violations. */
  readonly rule: string;
}

export const canaries: readonly Canary[] = [
  {
    name: 'quorum reads without a quorum',
    scenario: 'isolate-leader',
    rule: 'stale read',
    thread: [[/if \(state\.isQuorumAlone\) (\{\s+mark\("readAlone"\))/, 'if (true) $1']],
  },
  {
    name: 'log writes without sync',
    scenario: 'power-cut',
    rule: 'did not recover',
    thread: [[/sync: options\.sync/, 'sync: false']],
  },
  {
    name: 'watches that resume one revision too late',
    scenario: 'rolling-restart-watches',
    rule: 'watches did not resume completely',
    server: [
      [
        /(\w+)\.recent\((\w+)\.sentRevision, /,
        '$1.recent(Math.min($2.sentRevision + 1, this.hub.revision), ',
      ],
    ],
  },
  {
    name: 'objects that stop matching a selector without DELETED',
    scenario: 'kill-follower',
    rule: 'watch: not what happened',
    server: [[/else if \(before\) (\{\s+type = "DELETED";)/, 'else if (false) $1']],
  },
  {
    name: 'objects that stop matching a selector and are DELETED with their new content',
    scenario: 'kill-follower',
    rule: 'watch: wrong event',
    server: [[/(shown\w*) = previous;/, '$1 = entry;']],
  },
];

/** `found` is false if the bug was missed. */
export interface CanaryReport {
  readonly found: boolean;
  readonly text: string;
}

export async function runCanary(
  canary: Canary,
  seed: number,
  directory: string,
): Promise<CanaryReport> {
  const scenario = scenarioCalled(canary.scenario);
  const build = `${directory}-build`;
  const program = makeBuild(build, canary);
  const planted = { ...scenario, cluster: { ...scenario.cluster, program } };
  const report = await runScenario(planted, { seed, directory, isVerbose: false });
  rmSync(build, { recursive: true });
  const count = report.violations?.filter(({ rule }) => rule === canary.rule).length ?? 0;
  const found = count > 0;
  if (found) rmSync(directory, { recursive: true });
  const outcome = found ? `found as "${canary.rule}", ${count} times` : `NOT FOUND`;
  return { found, text: `${canary.name}: ${outcome} by ${scenario.name} (${report.verdict})` };
}
