/**
 * Do the log, the state and the flags found at start belong together? Whatever cannot be explained
 * is refused: a log or a state that has lost something must not pass for a younger one.
 */

import { membersOf } from '../../core/configuration/members.js';
import type { Configuration, LogIndex } from '../../core/types.js';
import { type AppliedState, LogError } from '../../replicated-log.js';
import { damagedLogCure } from '../../storage/log-head.js';
import type { RecoveredLog } from '../../storage/stored-log.js';

/** The directory has no log. Throws LogError `BadDirectory` if it once had one. */
export function checkFresh({ appliedIndex, installed, needsSnapshot }: AppliedState): void {
  if (appliedIndex === 0 && !installed && !needsSnapshot) return;
  throw new LogError(
    'BadDirectory',
    `the data directory holds a state (applied ${appliedIndex}) but no log, so what this member has promised is lost: ${damagedLogCure}`,
  );
}

/** Throws LogError `BadDirectory` when the directory is that of another member. */
export function checkMember(stored: RecoveredLog, memberName: string): void {
  const { memberId } = stored.identity;
  const member = membersOf(latestOf(stored)).find(({ id }) => id === memberId);
  if (member && member.name !== memberName) {
    throw new LogError(
      'BadDirectory',
      `the data directory belongs to member ${member.name}, this is ${memberName}: choose this member's own directory, or its name`,
    );
  }
}

/** The configuration in effect. */
export function latestOf({ configurations }: RecoveredLog): Configuration {
  return configurations.at(-1)!.configuration;
}

/** The process crashed after a snapshot was installed and before the log moved up to it. */
export function isBehindInstalled(stored: RecoveredLog, { installed }: AppliedState): boolean {
  return installed !== undefined && stored.start.index < installed.index;
}

/**
 * Finds where the state continues in the log, and whether it needs a snapshot first. Throws
 * LogError `Corrupt` when one of the two has lost data and no other replica can replace it.
 */
export function reconcile(
  stored: RecoveredLog,
  state: AppliedState,
): { readonly appliedIndex: LogIndex; readonly needsSnapshot: boolean } {
  const { start, last, identity } = stored;
  if (!state.needsSnapshot && state.appliedIndex > last.index) {
    throw new LogError(
      'Corrupt',
      `the log ends at ${last.index} but the state has applied ${state.appliedIndex}, so entries were lost: ${damagedLogCure}`,
    );
  }
  if (!state.needsSnapshot && state.appliedIndex >= start.index) {
    return { appliedIndex: state.appliedIndex, needsSnapshot: false };
  }
  if (latestOf(stored).voters.every(({ id }) => id === identity.memberId)) {
    const fault = state.needsSnapshot
      ? 'the state is damaged'
      : `the log begins after ${start.index} but the state has applied only ${state.appliedIndex}`;
    throw new LogError(
      'Corrupt',
      `${fault}, and no other member has it: restore the cluster from a backup`,
    );
  }
  return { appliedIndex: start.index, needsSnapshot: true };
}
