/** Planted bugs of consensus: elections, acknowledgements, commits. */
import type { Canary } from './planted-bug.js';

const core = (name: string) => `raft/src/core/${name}.js`;
const budget = { seed: 1, seedsMax: 40, stepCount: 4_000 };

export const coreCanaries: readonly Canary[] = [
  {
    ...budget,
    name: 'vote-before-durable',
    faults: ['coup'],
    memberCount: 3,
    bug: 'a vote is sent before it is on disk',
    edits: [
      {
        file: core('election/elections'),
        find: 'state.sendDurable({ ...response, term: state.term });',
        replace: 'state.send({ ...response, term: state.term });',
      },
    ],
  },
  {
    ...budget,
    name: 'vote-not-stored',
    seed: 4,
    faults: ['coup'],
    memberCount: 3,
    bug: 'the vote is not written to the disk, only the term',
    edits: [
      {
        file: 'raft/src/storage/log-head.js',
        find: '...next.votedFor === undefined ? {} : { votedFor: next.votedFor },',
        replace: '',
      },
    ],
  },
  {
    ...budget,
    name: 'double-vote',
    seed: 4,
    faults: ['coup'],
    memberCount: 3,
    bug: 'a second candidate of one term gets a vote, too',
    edits: [
      {
        file: core('election/elections'),
        find: 'const free = state.votedFor === message.from || state.votedFor === undefined && state.leader === undefined',
        replace: 'const free = true',
      },
      {
        file: core('state/core-state'),
        find: 'invariant(this.currentVote === undefined, `a second vote',
        replace: 'invariant(true, `a second vote',
      },
      {
        file: 'raft/src/storage/log-head.js',
        find: 'if (next.term === head.term && head.votedFor !== undefined && next.votedFor !== head.votedFor) {',
        replace: 'if (false) {',
      },
    ],
  },
  {
    ...budget,
    name: 'election-restriction-off',
    faults: ['succession', 'coup'],
    memberCount: 3,
    bug: 'a vote is given to a candidate whose log is behind',
    edits: [
      {
        file: core('election/elections'),
        find: 'const granted = free && state.log.isUpToDate(message.lastIndex, message.lastTerm);',
        replace: 'const granted = free;',
      },
    ],
  },
  {
    ...budget,
    name: 'follower-acks-before-sync',
    seed: 2,
    faults: ['ambush', 'slowDisk'],
    memberCount: 3,
    bug: 'a follower acknowledges entries that are not on its disk',
    edits: [
      {
        file: core('replication/follower'),
        find: 'appliedIndex: state.appliedIndex }, matchIndex);',
        replace: 'appliedIndex: state.appliedIndex });',
      },
    ],
  },
  {
    ...budget,
    name: 'leader-counts-before-sync',
    seed: 4,
    faults: ['machineCrash', 'crashAll', 'slowDisk'],
    memberCount: 3,
    bug: 'the leader counts itself for entries that are not on its disk',
    edits: [
      {
        file: core('replication/replication'),
        find: 'return this.state.writes.stableIndex;',
        replace: 'return this.state.log.last.index;',
      },
    ],
  },
  {
    ...budget,
    name: 'commits-old-term',
    seed: 53,
    faults: ['alternation'],
    memberCount: 3,
    bug: 'entries of an earlier term are committed by counting',
    edits: [
      {
        file: core('leader'),
        find: 'if (state.log.termAt(index) !== state.term) {',
        replace: 'if (false) {',
      },
      {
        file: core('replication/proposals'),
        find: "invariant(this.uncommitted >= 0, 'more was committed than was proposed');",
        replace: '',
      },
    ],
  },
  {
    ...budget,
    name: 'commit-beyond-match',
    seed: 5,
    faults: ['isolateBoth', 'succession', 'ambush'],
    memberCount: 3,
    bug: 'a heartbeat commits entries at a follower that may not be the leader’s',
    edits: [
      {
        file: core('replication/replication'),
        find: 'const commitIndex = minIndex(progress.matchIndex, state.commitIndex);',
        replace: 'const commitIndex = state.commitIndex;',
      },
      {
        file: core('replication/follower'),
        find: 'if (!state.installing) state.commitTo(message.commitIndex);',
        replace:
          'if (!state.installing) state.commitTo(Math.min(message.commitIndex, state.log.last.index));',
      },
    ],
  },
  {
    ...budget,
    name: 'truncates-committed',
    faults: ['reordering', 'duplication', 'delay', 'loss'],
    bug: 'a late append truncates the entries after it although they agree',
    edits: [
      {
        file: core('replication/follower'),
        find: 'if (term === entry.term) this.checkSameEntry(entry);',
        replace: 'if (false) return;',
      },
    ],
  },
  {
    ...budget,
    name: 'delivered-before-sync',
    seed: 11,
    faults: ['machineCrash', 'slowDisk'],
    memberCount: 3,
    bug: 'the state is given entries that are not on the disk of this replica',
    edits: [
      {
        file: core('apply/delivery'),
        find: 'const end = minIndex(state.commitIndex, state.writes.stableIndex);',
        replace: 'const end = state.commitIndex;',
      },
    ],
  },
  {
    ...budget,
    name: 'refused-though-taken',
    faults: ['crash'],
    memberCount: 3,
    bug: 'a forwarded proposal is taken and reported as refused',
    edits: [
      {
        file: core('message-router'),
        find: 'roles.leader.propose(message.commands, message.from);',
        replace:
          "roles.leader.propose(message.commands, message.from); refuseCommands(state, message.commands, message.from, 'QueueFull');",
      },
    ],
  },
];
