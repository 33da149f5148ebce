/** Input of replicas from other replicas, disks and backup files. */

import assert from 'node:assert/strict';
import { CheckedStreamReader, CheckedStreamWriter, crc32c, LogError } from '@orch/raft';
import { StoreError } from '@orch/store';
import fc from 'fast-check';
import { asMemberId, asTerm, noIndex } from '../../../libs/raft/src/core/brands.js';
import {
  ConfigurationFormatError,
  decodeConfiguration,
  encodeConfiguration,
} from '../../../libs/raft/src/core/configuration/configuration-codec.js';
import { entryAfter } from '../../../libs/raft/src/core/log/entry-checksum.js';
import type { EntryKind, LogPoint, Member } from '../../../libs/raft/src/core/types.js';
import {
  decodeEntry,
  decodeFact,
  encodeEntry,
  encodeFact,
} from '../../../libs/raft/src/storage/log-codec.js';
import * as wire from '../../../libs/raft/src/transport/generated/wire.js';
import { decodeFrame, encodeFrame } from '../../../libs/raft/src/transport/wire/frame.js';
import {
  type Codec,
  WireError,
  WireReader,
} from '../../../libs/raft/src/transport/wire/wire-reader.js';
import { Sizes, WireWriter } from '../../../libs/raft/src/transport/wire/wire-writer.js';
import { decodeCommand, encodeCommand } from '../../../libs/store/src/core/command.js';
import { decodeRecord, encodeRecord, versionKey } from '../../../libs/store/src/core/record.js';
import { SequenceWindow } from '../../../libs/store/src/core/sequence-window.js';
import { StoredEntry } from '../../../libs/store/src/core/stored-entry.js';
import { StateStreamReader } from '../../../libs/store/src/snapshot/state-stream.js';
import {
  decodeCheckpoint,
  encodeCheckpoint,
} from '../../../libs/store/src/state/checkpoint-codec.js';
import { decodeFacts, encodeFacts } from '../../../libs/store/src/state/facts-codec.js';
import type { Revision } from '../../../libs/store/src/versioned-store.js';
import { damagedBytes, inPieces } from '../inputs/bytes.js';
import { changedJson, hostileJson, jsonText } from '../inputs/json.js';
import { changedMessage, lengthDelimited } from '../inputs/protobuf.js';
import { cheap, decodedOrRefused, type Target, target } from '../target.js';

const bytes = fc.uint8Array({ maxLength: 60 }).map((all) => Buffer.from(all));
const number48 = fc.integer({ min: 0, max: 2 ** 48 - 1 });
/** The revision of a stored version: the first one is 1. */
const versionRevision = number48.filter((revision) => revision > 0);
const number32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const digits = fc.stringMatching(/^[0-9a-f]{16}$/);
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });

function written<Body>(codec: Codec<Body>, body: Body): Buffer {
  const sizes = new Sizes();
  const buffer = Buffer.alloc(codec.size(body, sizes));
  codec.write(body, new WireWriter(buffer, sizes));
  return buffer;
}

const entry = fc.record({
  index: number48,
  term: number48,
  kind: fc.constantFrom<EntryKind>('command', 'configuration', 'empty'),
  data: bytes,
  checksum: number32,
});
const point = fc.record({ index: number48, term: number48, checksum: number32 });
const append = fc.record({
  kind: fc.constant('appendRequest'),
  from: text,
  to: text,
  term: number48,
  previous: point,
  entries: fc.array(entry, { maxLength: 3 }),
  commitIndex: number48,
});
const toPeer = fc
  .array(append, { maxLength: 3 })
  .map((messages) => written(wire.ToPeerCodec, { messages } as unknown as wire.ToPeer));

const codecs = Object.values(wire) as unknown as readonly Codec<unknown>[];

/** A valid frame, whose content may be malformed. */
const peerFrames = target(
  'peer-frames',
  fc.record({
    codec: fc.constantFrom(...codecs),
    body: changedMessage(fc.oneof(toPeer, bytes)),
    frame: damagedBytes(toPeer.map((body) => frameOf(body))),
  }),
  ({ codec, body, frame }) => {
    const read = decodedOrRefused(() => decodeFrame(codec, frameOf(body)), WireError);
    if (read !== undefined) {
      const again = written(codec, read);
      assert.deepEqual(codec.read(new WireReader(again), again.length), read);
      assert.deepEqual(decodeFrame(codec, encodeFrame(codec, read)), read);
    }
    decodedOrRefused(() => decodeFrame(wire.ToPeerCodec, frame), WireError);
  },
);

function frameOf(body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head[0] = 0x0d;
  head.writeUInt32LE(crc32c(body), 1);
  return Buffer.concat([head, lengthDelimited(2, body)]);
}

const start: LogPoint = { index: noIndex, term: asTerm(1), checksum: 7 };

const logRecords = target(
  'log-records',
  fc.record({
    kind: fc.constantFrom<EntryKind>('command', 'configuration', 'empty'),
    data: bytes,
    damage: fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { maxLength: 3 }),
    length: fc.nat(120),
    fact: changedJson(fc.constant({ term: 3, votedFor: 'a', last: { index: 1 } })),
  }),
  ({ kind, data, damage, length, fact }) => {
    const one = entryAfter(start, asTerm(2), kind, data);
    const record = encodeEntry(start.checksum, one);
    assert.deepEqual(decodeEntry(one.index, record)?.entry, one);
    const other = Buffer.from(record.subarray(0, length));
    for (const [at, byte] of damage) if (at < other.length) other[at] = byte;
    const read = decodeEntry(one.index, other);
    if (!other.equals(record)) assert.equal(read, undefined, 'damage is not detected');
    const key = Buffer.from('h/head');
    const whole = fact as object | null;
    if (typeof whole !== 'object' || whole === null) return;
    const factRecord = encodeFact(key, whole);
    assert.deepEqual(decodeFact(key, factRecord), JSON.parse(JSON.stringify(whole)));
    for (const [at, byte] of damage) if (at < factRecord.length) factRecord[at] = byte;
    decodeFact(key, factRecord);
  },
);

const member: fc.Arbitrary<Member> = fc.record({
  id: digits.map(asMemberId),
  name: text,
  peerUrl: text,
  clientUrl: text,
});

const configurations = target(
  'configurations',
  fc
    .tuple(fc.array(member, { minLength: 1, maxLength: 3 }), fc.array(member, { maxLength: 2 }))
    .chain(([voters, learners]) => changedJson(fc.constant({ voters, learners }))),
  (value) => {
    const data = Buffer.from(jsonText(value));
    const read = decodedOrRefused(() => decodeConfiguration(data), ConfigurationFormatError);
    if (read) assert.deepEqual(decodeConfiguration(encodeConfiguration(read)), read);
  },
);

const snapshotChunks = target(
  'snapshot-chunks',
  fc.record({
    payloads: fc.array(bytes, { maxLength: 4 }),
    places: fc.array(fc.nat(400), { maxLength: 5 }),
    stream: damagedBytes(fc.array(bytes, { maxLength: 4 }).map(streamOf)),
  }),
  ({ payloads, places, stream }) => {
    const reader = new CheckedStreamReader();
    const read = inPieces(streamOf(payloads), places).flatMap((piece) => reader.take(piece));
    assert.deepEqual(Buffer.concat(read), Buffer.concat(payloads));
    reader.finish();
    const other = new CheckedStreamReader();
    decodedOrRefused(() => {
      for (const piece of inPieces(stream, places)) other.take(piece);
      other.finish();
    }, LogError);
  },
);

function streamOf(payloads: readonly Buffer[]): Buffer {
  const writer = new CheckedStreamWriter();
  const chunks = payloads.map((payload) => writer.chunk(payload));
  return Buffer.concat([...chunks, writer.trailer()]);
}

const facts = fc
  .record(
    {
      appliedIndex: number48,
      revision: number48,
      compactedRevision: number48,
      timeMs: number48,
      hash: number32,
      proposersChecksum: number32,
      keyCount: number48,
      liveBytes: number48,
      liveRevisions: number48,
    },
    { noNullPrototype: true },
  )
  .map((all) => ({ ...all, compactedRevision: Math.min(all.compactedRevision, all.revision) }));

const row = fc.tuple(bytes, bytes).map(([key, value]) => {
  const head = Buffer.alloc(6);
  head.writeUInt16BE(key.length, 0);
  head.writeUInt32BE(value.length, 2);
  return Buffer.concat([head, key, value]);
});

/** The content of a state stream, in valid chunks. */
const stateContent = fc
  .tuple(
    fc.oneof(
      {
        weight: 3,
        arbitrary: facts.map((all) => ({ format: 'state-2', facts: all, sweptRevision: 1 })),
      },
      { weight: 1, arbitrary: hostileJson },
    ),
    fc.array(row, { maxLength: 4 }),
  )
  .map(([header, rows]) => {
    const head = Buffer.from(jsonText(header).slice(0, 70_000));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(head.length);
    return Buffer.concat([length, head, ...rows, Buffer.alloc(2)]);
  });

const stateStreams = target(
  'state-streams',
  fc.record({
    content: damagedBytes(stateContent),
    places: fc.array(fc.nat(2_000), { maxLength: 4 }),
  }),
  ({ content, places }) => {
    const reader = new StateStreamReader();
    decodedOrRefused(
      () => {
        for (const piece of inPieces(streamOf(inPieces(content, places)), places)) {
          for (const [key, value] of reader.take(piece)) {
            decodedOrRefused(() => decodeRecord(key, value), StoreError);
          }
        }
        reader.finish();
      },
      LogError,
      StoreError,
    );
  },
);

const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
const expect = fc.oneof(
  fc.constant(undefined),
  fc.constant({ kind: 'absent' as const }),
  number48.map((revision) => ({ kind: 'revision' as const, revision: revision as Revision })),
);
const operation = fc.oneof(
  fc
    .record({ key, bytes, revisionOffset: fc.nat(5), expect })
    .map((put) => ({ kind: 'put' as const, ...put })),
  fc.record({ key, lastBytes: bytes, expect }).map((all) => ({ kind: 'delete' as const, ...all })),
);
const command = fc
  .record({
    id: fc.record({ proposer: digits, sequence: number48 }),
    timeMs: number48,
    operations: fc.array(operation, { maxLength: 3 }),
  })
  .map((all) => encodeCommand({ kind: 'txn', ...all }));
const others = fc
  .record({
    id: fc.record({ proposer: digits, sequence: number48 }),
    timeMs: number48,
    kind: fc.constantFrom(
      'compact' as const,
      'expire' as const,
      'register' as const,
      'hash' as const,
    ),
    revision: number48,
    index: number48,
    hash: number32,
    member: digits,
  })
  .map((all) => encodeCommand(all as Parameters<typeof encodeCommand>[0]));

const storeCommands = target('store-commands', damagedBytes(fc.oneof(command, others)), (data) => {
  const read = decodedOrRefused(() => decodeCommand(data), StoreError);
  if (read) assert.deepEqual(decodeCommand(Buffer.from(encodeCommand(read))), read);
});

const storeRecords = target(
  'store-records',
  fc.record({
    facts,
    key,
    payload: bytes,
    created: number48,
    revision: versionRevision,
    proposer: digits,
    sequences: fc.array(fc.integer({ min: 1, max: 5_000 }), { maxLength: 6 }),
    places: fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 3 }),
    length: fc.nat(300),
    databaseKey: damagedBytes(versionRevision.map((revision) => versionKey(revision, 1))),
  }),
  (input) => {
    const damage = (whole: Buffer): Buffer => {
      const copy = Buffer.from(whole.subarray(0, input.length));
      for (const [at, byte] of input.places) if (at < copy.length) copy[at] = byte;
      return copy;
    };
    const place = versionKey(input.revision, 1);
    const stored = new StoredEntry(
      input.key,
      input.payload,
      Math.min(input.created, input.revision) as Revision,
      input.revision as Revision,
      1,
      0,
      0,
    );
    const record = encodeRecord(place, {
      entry: stored,
      deleted: false,
      last: true,
      previousRevision: 0,
    });
    assert.equal(decodeRecord(place, record).entry.key, input.key);
    decodedOrRefused(() => decodeRecord(place, damage(record)), StoreError);
    decodedOrRefused(() => decodeRecord(input.databaseKey, record), StoreError);

    const window = new SequenceWindow(input.proposer);
    for (const sequence of input.sequences) window.admit(sequence);
    const encoded = window.encode(input.proposer);
    assert.equal(SequenceWindow.decode(input.proposer, encoded).highest, window.highest);
    decodedOrRefused(() => SequenceWindow.decode(input.proposer, damage(encoded)), StoreError);

    assert.deepEqual(decodeFacts(encodeFacts(input.facts)), input.facts);
    decodedOrRefused(() => decodeFacts(damage(encodeFacts(input.facts))), StoreError);
    const checkpoint = encodeCheckpoint({
      facts: input.facts,
      proposers: new Map([[input.proposer, encoded]]),
    });
    assert.deepEqual(decodeCheckpoint(checkpoint).facts, input.facts);
    decodedOrRefused(() => decodeCheckpoint(damage(checkpoint)), StoreError);
  },
);

export const replicaTargets: readonly Target[] = [
  peerFrames,
  configurations,
  stateStreams,
  storeRecords,
  ...cheap([logRecords, snapshotChunks, storeCommands]),
];
