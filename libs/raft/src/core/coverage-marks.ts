/**
 * Names for the branches of the core that matter. Tests and the simulation set a collector and show
 * that each was reached; otherwise a mark does nothing.
 */
export const markNames = [
  'electionPreVote',
  'electionEarly',
  'leaderLost',
  'electionVote',
  'electionSoleVoter',
  'electionTransfer',
  'electionWon',
  'electionLost',
  'preVoteGranted',
  'preVoteRefusedOutdatedTerm',
  'voteGranted',
  'voteRefused',
  'voteIgnoredLeaderAlive',
  'staleLeaderTold',
  'staleMessageIgnored',
  'newerTermFollowed',
  'strangerIgnored',
  'notAdmittedIgnored',
  'misdirectedIgnored',
  'steppedDownWithoutQuorum',
  'steppedDownRemoved',
  'appendAccepted',
  'appendTruncated',
  'appendRefused',
  'appendBeforeStart',
  'appendDamaged',
  'appendWhileInstalling',
  'appendNeedsSnapshot',
  'truncatedWhileWriting',
  'heldMessageDropped',
  'heldMessageOutdated',
  'probeBackedOff',
  'refusalStale',
  'responseBeyondLog',
  'windowFull',
  'noticeAccepted',
  'lostAppendNudged',
  'entriesFromDisk',
  'entriesReadGone',
  'entriesReadStale',
  'peerUnreachable',
  'snapshotNeededBehindStart',
  'snapshotNeededByFollower',
  'snapshotDelivered',
  'snapshotFailed',
  'snapshotInstalledLogKept',
  'snapshotInstalledLogReplaced',
  'snapshotRefused',
  'commitOldTermWaits',
  'commitBeforeOwnWrite',
  'deliveryFromDisk',
  'deliveryHeldBack',
  'deliveryWaitsForDisk',
  'proposalForwarded',
  'proposalNoLeader',
  'proposalQueueFull',
  'proposalTooLarge',
  'proposalWhileTransferring',
  'readAlone',
  'readLease',
  'readRound',
  'readRoundShared',
  'readWaitsForOwnTerm',
  'readForwarded',
  'readForwardedLost',
  'readRefused',
  'readStaleAckIgnored',
  'changeRefused',
  'jointEntered',
  'jointLeft',
  'jointLeftByNewLeader',
  'configurationRolledBack',
  'departedTold',
  'transferStarted',
  'transferWaitsForTarget',
  'transferDone',
  'transferTimedOut',
  'transferSlowDisk',
  'transferNeedsSnapshot',
] as const;

export type MarkName = (typeof markNames)[number];

let collector: ((name: MarkName) => void) | undefined;

export function mark(name: MarkName): void {
  collector?.(name);
}

/** Undefined: marks do nothing again. One collector at a time, for the whole process. */
export function collectMarks(collect: ((name: MarkName) => void) | undefined): void {
  collector = collect;
}
