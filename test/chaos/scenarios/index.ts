/** All scenarios, and the short form that every change passes. */
import type { Scenario } from '../scenario.js';
import { backupScenarios } from './backup.js';
import { clockScenarios } from './clock.js';
import { crossWiredScenarios } from './cross-wired.js';
import { damageScenarios } from './damage.js';
import { diskScenarios } from './disk.js';
import { fiveServerScenarios } from './five-servers.js';
import { killScenarios } from './kill.js';
import { membershipScenarios } from './membership.js';
import { networkScenarios } from './network.js';
import { operationScenarios } from './operations.js';
import { pauseScenarios } from './pause.js';
import { retryScenarios } from './retries.js';
import { rollingRestartScenarios } from './rolling-restart.js';
import { snapshotScenarios } from './snapshots.js';
import { upgradeScenarios } from './upgrade.js';
import { watchScenarios } from './watching.js';

export const scenarios: readonly Scenario[] = [
  ...killScenarios,
  ...pauseScenarios,
  ...clockScenarios,
  ...networkScenarios,
  ...crossWiredScenarios,
  ...diskScenarios,
  ...damageScenarios,
  ...membershipScenarios,
  ...snapshotScenarios,
  ...rollingRestartScenarios,
  ...operationScenarios,
  ...upgradeScenarios,
  ...backupScenarios,
  ...watchScenarios,
  ...retryScenarios,
  ...fiveServerScenarios,
];

/** Part of `npm test`. */
export const shortForm: readonly string[] = [
  'kill-leader',
  'kill-follower',
  'kill-all',
  'pause-leader',
  'isolate-leader',
  'rolling-restart',
];

/** By number or name. Throws RangeError. */
export function scenarioCalled(word: string): Scenario {
  const found = scenarios.find(({ number, name }) => name === word || String(number) === word);
  if (found) return found;
  const known = scenarios.map(({ number, name }) => `${number} ${name}`).join(', ');
  throw new RangeError(`no scenario ${word}; there are ${known}`);
}

/** Whether a mixed run draws its faults: they must change nothing of a cluster but its leader. */
export function isMixed({ number }: Scenario): boolean {
  return mixedNumbers.includes(number);
}

const mixedNumbers = [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 24];
