import { describe, expect, it } from 'vitest';
import { branded } from '../../core/brands.js';
import { encodeConfiguration } from '../../core/configuration/configuration-codec.js';
import { positionMax } from '../../core/limits.js';
import type { AppendRequest, Message } from '../../core/messages.js';
import type { Configuration } from '../../core/types.js';
import { WireError } from '../wire/wire-reader.js';
import { messagesFromWire, operatorRequestFromWire, snapshotPointFromWire } from './wire-forms.js';

const envelope = { from: 'a', to: 'b', term: 5 };
const member = { id: 'a', name: 'a', peerUrl: 'https://a:1', clientUrl: '' };
const noData = Buffer.alloc(0);
const entry = { index: 8, term: 5, kind: 'empty', data: noData, checksum: 1 } as const;
const configuration = (voters: (typeof member)[]) =>
  encodeConfiguration(branded<Configuration>({ voters, learners: [] }));
const append = branded<AppendRequest>({
  ...envelope,
  kind: 'appendRequest',
  previous: { index: 7, term: 4, checksum: 3 },
  entries: [entry, { ...entry, index: 9, kind: 'configuration', data: configuration([member]) }],
  commitIndex: 9,
  notice: false,
});
const vote = {
  ...{ ...envelope, kind: 'voteRequest', preVote: false, transfer: false },
  ...{ lastIndex: 7, lastTerm: 4 },
} as const;
const response = {
  ...{ ...envelope, kind: 'appendResponse', accepted: true, needsSnapshot: false },
  ...{ matchIndex: 9, refusedIndex: 0, hintIndex: 3, hintTerm: 5, appliedIndex: 9 },
} as const;
const heartbeat = { ...envelope, kind: 'heartbeatRequest', commitIndex: 9, context: 1 } as const;
const heard = {
  ...{ ...envelope, kind: 'heartbeatResponse', context: 1, appliedIndex: 9, diskLatencyMs: 0.5 },
} as const;
const read = { ...envelope, kind: 'readIndexResponse', context: 1, index: 9 } as const;
const above = positionMax + 1;

const receive = (message: object) => messagesFromWire([message as never]);

describe('messagesFromWire', () => {
  it.each([append, vote, response, heartbeat, heard, read] as Message[])(
    'returns the message of a replica ($kind)',
    (message) => expect(receive(message)).toEqual([message]),
  );

  it('returns responses of a replica that has seen no term', () => {
    const refused = { ...envelope, term: 0, kind: 'voteResponse', preVote: true, granted: false };
    expect(receive(refused)).toEqual([refused]);
  });

  it.each([
    ['a notice with entries', { ...append, notice: true }],
    ['an entry of a later term', { ...append, entries: [{ ...entry, term: 6 }] }],
    ['a previous entry of a later term', { ...append, previous: { ...entry, term: 6 } }],
    [
      'a configuration that is not JSON',
      { ...append, entries: [{ ...entry, kind: 'configuration', data: Buffer.from('{') }] },
    ],
    [
      'a configuration without voters',
      { ...append, entries: [{ ...entry, kind: 'configuration', data: configuration([]) }] },
    ],
    ['an index above the limit', { ...append, previous: { ...entry, index: positionMax } }],
    ['a commit index above the limit', { ...append, commitIndex: above }],
    [
      'a leader without a term',
      { ...append, term: 0, previous: { ...entry, term: 0 }, entries: [] },
    ],
    ['a heartbeat without a term', { ...heartbeat, term: 0 }],
    ['a heartbeat above the limit', { ...heartbeat, commitIndex: above }],
    ['a term above the limit', { ...heartbeat, term: above }],
    ['a transfer without a term', { ...envelope, kind: 'timeoutNow', term: 0 }],
    ['a candidate with entries of its own term', { ...vote, lastTerm: 5 }],
    ['a vote of no term', { ...vote, term: 0, lastTerm: 0 }],
    ['a match index above the limit', { ...response, matchIndex: above }],
    ['an applied index above the limit', { ...response, appliedIndex: above }],
    ['a hint of a later term', { ...response, hintTerm: 6 }],
    ['a negative disk latency', { ...heard, diskLatencyMs: -1 }],
    ['an infinite disk latency', { ...heard, diskLatencyMs: Number.POSITIVE_INFINITY }],
    ['a disk latency that is no number', { ...heard, diskLatencyMs: Number.NaN }],
    ['a read index above the limit', { ...read, index: above }],
  ])('rejects %s', (_what, message) => {
    expect(() => receive(message)).toThrow(WireError);
  });
});

describe('snapshotPointFromWire', () => {
  const header = {
    greeting: {
      ...{ clusterId: 'c', memberId: 'a', storageId: 's', protocolVersion: 1, fresh: false },
    },
    term: 5,
    point: { index: 7, term: 4, checksum: 3 },
    configuration: { voters: [member], learners: [], outgoing: [] },
  };

  it('returns the point of a leader', () => {
    expect(snapshotPointFromWire(header)).toEqual({
      ...header.point,
      configuration: { voters: [member], learners: [] },
    });
  });

  it.each([
    ['of no entry', { ...header, point: { ...header.point, index: 0 } }],
    ['of a later term', { ...header, point: { ...header.point, term: 6 } }],
    ['above the limit', { ...header, point: { ...header.point, index: above } }],
    ['without voters', { ...header, configuration: { ...header.configuration, voters: [] } }],
    [
      'with a voter twice',
      { ...header, configuration: { ...header.configuration, learners: [member] } },
    ],
  ])('rejects a snapshot %s', (_what, wrong) => {
    expect(() => snapshotPointFromWire(wrong)).toThrow(WireError);
  });
});

describe('operatorRequestFromWire', () => {
  it.each(['id', 'name', 'peerUrl'])('rejects a member without %s', (field) => {
    const request = (added: typeof member) =>
      operatorRequestFromWire({
        kind: 'changeMembership',
        change: { kind: 'addLearner', member: added },
      });
    expect(request(member)).toMatchObject({ change: { member } });
    expect(() => request({ ...member, [field]: '' })).toThrow(WireError);
  });
});
