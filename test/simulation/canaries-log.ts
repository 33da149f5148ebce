/** Planted bugs of the log on disk, of snapshots, and of who may take part. */
import type { Canary } from './planted-bug.js';

const budget = { seed: 1, seedsMax: 40, stepCount: 4_000 };

export const logCanaries: readonly Canary[] = [
  {
    ...budget,
    name: 'log-not-synced',
    faults: ['machineCrash', 'crashAll'],
    memberCount: 3,
    bug: 'the log is written without sync',
    edits: [
      {
        file: 'raft/src/storage/log-files.js',
        find: 'await this.database.write(changes, { sync: true });',
        replace: 'await this.database.write(changes, { sync: false });',
      },
    ],
  },
  {
    ...budget,
    name: 'log-checksum-ignored',
    seed: 5,
    faults: ['damageLog'],
    memberCount: 3,
    bug: 'entries that do not match their checksum are read all the same',
    edits: [
      {
        file: 'raft/src/storage/log-codec.js',
        find: 'const checksum = entryChecksum(previousChecksum, term, index, kind, data); if (checksum !== record.readUInt32BE(0)) return undefined;',
        replace: 'const checksum = record.readUInt32BE(0);',
      },
    ],
  },
  {
    ...budget,
    name: 'truncated-entries-stay',
    seed: 3,
    faults: ['deposed'],
    memberCount: 3,
    bug: 'truncated entries stay on the disk',
    edits: [
      {
        file: 'raft/src/storage/log-batch.js',
        find: "changes.push({ kind: 'delete', key: entryKey(index) });",
        replace: '',
      },
    ],
  },
  {
    ...budget,
    name: 'log-cut-before-state-sync',
    faults: ['machineCrash'],
    memberCount: 1,
    bug: 'the log is compacted before the state is on disk',
    edits: [
      {
        file: 'store/src/state/checkpointer.js',
        find: 'await this.database.sync();',
        replace: '',
      },
    ],
  },
  {
    ...budget,
    name: 'log-not-moved',
    isQuick: true,
    seed: 2,
    faults: ['isolateBoth', 'grow', 'crash'],
    bug: 'the log stays where it was when a snapshot takes its place',
    edits: [
      {
        file: 'raft/src/replica/replica.js',
        find: 'moved = await this.writer.moveTo(point);',
        replace: 'moved = true;',
      },
    ],
  },
  {
    ...budget,
    name: 'wiped-directory-admitted',
    seed: 11,
    faults: ['wipe', 'crash'],
    memberCount: 3,
    bug: 'a wiped directory is welcome under its old id',
    edits: [
      {
        file: 'raft/src/replica/peers/admission.js',
        find: 'if (known === storageId) return {',
        replace: 'if (known !== undefined) return {',
      },
      {
        file: 'raft/src/replica/peers/admission.js',
        find: 'await this.note(peer, storageId) : known === storageId;',
        replace: 'await this.note(peer, storageId) : true;',
      },
    ],
  },
  {
    ...budget,
    name: 'applied-index-ahead',
    seed: 17,
    faults: ['machineCrash', 'crash', 'crashAll'],
    memberCount: 1,
    bug: 'the applied index is written ahead of the records that belong to it',
    setting: [
      {
        file: 'store/src/limits.js',
        find: 'export const stateBatchBytesMax = 512 * 1024;',
        replace: 'export const stateBatchBytesMax = 256;',
      },
    ],
    edits: [
      {
        file: 'store/src/state/state-writer.js',
        find: 'await this.database.write(changes);',
        replace:
          'const ahead = this.queue.at(-1)?.facts.appliedIndex ?? 0; const last = changes.at(-1); changes[changes.length - 1] = { ...last, facts: { ...last.facts, appliedIndex: Math.max(ahead, last.facts.appliedIndex) } }; await this.database.write(changes);',
      },
    ],
  },
  {
    ...budget,
    name: 'snapshot-without-proposers',
    seed: 2,
    faults: ['grow', 'damageState', 'isolateBoth'],
    bug: 'a snapshot does not say which commands were applied',
    edits: [
      {
        file: 'store/src/snapshot/outgoing.js',
        find: 'const facts = await database.readFacts(view);',
        replace: 'const facts = { ...(await database.readFacts(view)), proposersChecksum: 0 };',
      },
      {
        file: 'store/src/snapshot/outgoing.js',
        find: 'sources.push(database.proposerRows(view), database.versionRows',
        replace: 'sources.push(database.versionRows',
      },
    ],
  },
  {
    ...budget,
    name: 'snapshot-without-compacted-revision',
    seed: 115,
    faults: ['grow', 'damageState', 'isolateBoth'],
    bug: 'a snapshot does not say which history is gone',
    edits: [
      {
        file: 'store/src/snapshot/outgoing.js',
        find: 'const facts = await database.readFacts(view);',
        replace: 'const facts = { ...(await database.readFacts(view)), compactedRevision: 0 };',
      },
      {
        file: 'store/src/snapshot/outgoing.js',
        find: 'const sweptRevision = await database.readSwept(view);',
        replace: 'const sweptRevision = 0;',
      },
      {
        file: 'store/src/state/recovery.js',
        find: 'if (continuity.brokenRevision > oldestRevision) {',
        replace: 'if (false) {',
      },
    ],
  },
  {
    ...budget,
    name: 'snapshot-without-history',
    seed: 2,
    faults: ['grow', 'damageState', 'isolateBoth'],
    bug: 'a snapshot has only the current state, and claims to have the history',
    edits: [
      {
        file: 'store/src/core/state-machine.js',
        find: 'else this.keys.orphan(entry);',
        replace: '',
      },
      {
        file: 'store/src/core/key-space.js',
        find: 'orphan(tombstone) {',
        replace:
          'forgetHistory() { this.history.clear(); for (const { history } of this.indexes.values()) history.clear(); this.superseded = []; this.supersededHead = 0; } orphan(tombstone) {',
      },
      {
        file: 'store/src/snapshot/incoming.js',
        find: 'this.machine = machine;',
        replace: 'machine.keys.forgetHistory(); this.machine = machine;',
      },
    ],
  },
  {
    ...budget,
    name: 'state-checksum-ignored',
    faults: ['damageState'],
    memberCount: 3,
    bug: 'records of the state that do not match their checksums are served',
    edits: [
      {
        file: 'store/src/core/record.js',
        find: 'payloadStart > record.length || crc32c(record, crc32c(databaseKey), 4, payloadStart) !== record.readUInt32BE(0) || crc32c(record, 0, payloadStart) !== checksum',
        replace: 'payloadStart > record.length',
      },
    ],
  },
];
