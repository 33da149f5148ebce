/**
 * Do the log, the state and the flags found at start belong together? Whatever cannot be explained is
 * refused: a log or a state that has lost something must not pass for a younger one.
 */
import type { Configuration } from '../core/types.js';
import { type AppliedState, LogError, type LogIndex } from '../replicated-log.js';
import type { StoredLog } from '../storage/log-store.js';
import { membersOf } from './members.js';

const CURE =
  'remove this member from the cluster, empty its data directory and add it anew; a cluster of one is restored from a backup';

/** No log is there. Throws LogError `BadDirectory` when there was one once. */
export function checkFresh({ appliedIndex, installed, needsSnapshot }: AppliedState): void {
  if (appliedIndex === 0 && !installed && !needsSnapshot) return;
  throw new LogError(
    'BadDirectory',
    `the data directory holds a state (applied ${appliedIndex}) but no log, so what this member has promised is lost: ${CURE}`,
  );
}

/** Throws LogError `BadDirectory` when the directory is that of another member. */
export function checkMember(stored: StoredLog, memberName: string): void {
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
export function latestOf({ configurations }: StoredLog): Configuration {
  return configurations.at(-1)!.configuration;
}

/** A crash came between the installation of a snapshot and moving the log up to it. */
export function isBehindInstalled(stored: StoredLog, { installed }: AppliedState): boolean {
  return installed !== undefined && stored.start.index < installed.index;
}

/**
 * Where the state goes on in the log, and whether it needs a snapshot first. Throws LogError `Corrupt`
 * when one of the two has lost something and nobody else can replace it.
 */
export function reconcile(
  stored: StoredLog,
  state: AppliedState,
): { readonly appliedIndex: LogIndex; readonly needsSnapshot: boolean } {
  const { start, last, identity } = stored;
  if (!state.needsSnapshot && state.appliedIndex > last.index) {
    throw new LogError(
      'Corrupt',
      `the log ends at ${last.index} but the state has applied ${state.appliedIndex}, so entries were lost: ${CURE}`,
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
