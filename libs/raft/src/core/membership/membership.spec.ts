import { describe, expect, it } from 'vitest';
import { asLogIndex } from '../brands.js';
import {
  ConfigurationFormatError,
  decodeConfiguration,
  encodeConfiguration,
} from '../configuration/configuration-codec.js';
import { Configurations, isVoter, memberIds } from '../configuration/configurations.js';
import { InvariantError } from '../invariant.js';
import { member, memberId, votersOf } from '../testing/test-cluster.js';
import type { Configuration, LogIndex } from '../types.js';
import { leaveJoint, planChange } from './membership.js';

const at = (index: number): LogIndex => asLogIndex(index);

describe('planChange', () => {
  const three: Configuration = { ...votersOf(1, 2, 3), learners: [member(4)] };

  it('makes a joint configuration when voters change, and one step otherwise', () => {
    const promoted = planChange(three, { kind: 'promote', id: memberId(4) });
    expect(promoted).toEqual({
      next: { voters: [1, 2, 3, 4].map(member), learners: [], outgoing: [1, 2, 3].map(member) },
    });
    const removed = planChange(three, { kind: 'remove', id: memberId(1) });
    expect(removed).toEqual({
      next: { voters: [2, 3].map(member), learners: [member(4)], outgoing: [1, 2, 3].map(member) },
    });
    const dropped = planChange(three, { kind: 'remove', id: memberId(4) });
    expect(dropped).toEqual({ next: { voters: three.voters, learners: [] } });
    const added = planChange(three, { kind: 'addLearner', member: member(5) });
    expect(added).toEqual({ next: { voters: three.voters, learners: [4, 5].map(member) } });
    const moved = { ...member(2), clientUrl: 'https://new' };
    const updated = planChange(three, { kind: 'update', member: moved });
    expect(updated).toMatchObject({ next: { voters: [member(1), moved, member(3)] } });
  });

  it('leaves a joint configuration for its voters', () => {
    const joint: Configuration = { ...votersOf(1, 2), outgoing: [1, 2, 3].map(member) };
    expect(leaveJoint(joint)).toEqual(votersOf(1, 2));
  });

  it('refuses ids, names and addresses that are taken', () => {
    for (const taken of [
      { ...member(9), id: memberId(4) },
      { ...member(9), name: 'm2' },
      { ...member(9), peerUrl: member(3).peerUrl },
    ]) {
      const refused = planChange(three, { kind: 'addLearner', member: taken });
      expect(refused.refusal?.code).toBe('DuplicateMember');
    }
    const same = { ...member(1), name: 'm2' };
    expect(planChange(three, { kind: 'update', member: same }).refusal?.code).toBe(
      'DuplicateMember',
    );
    expect(planChange(three, { kind: 'promote', id: memberId(1) }).refusal?.code).toBe(
      'DuplicateMember',
    );
    expect(planChange(three, { kind: 'update', member: member(8) }).refusal?.code).toBe(
      'UnknownMember',
    );
  });
});

describe('a configuration as data', () => {
  it('decodes to the encoded configuration', () => {
    const joint: Configuration = {
      ...votersOf(1, 2),
      learners: [member(9)],
      outgoing: [1, 2, 3].map(member),
    };
    expect(decodeConfiguration(encodeConfiguration(joint))).toEqual(joint);
    expect(decodeConfiguration(encodeConfiguration(votersOf(1)))).toEqual(votersOf(1));
  });

  it('is refused when it makes no sense', () => {
    const bad: unknown[] = [
      7,
      { voters: [], learners: [] },
      { voters: [member(1)] },
      { voters: [member(1), member(1)], learners: [] },
      { voters: [member(1)], learners: [member(1)] },
      { voters: [member(1)], learners: [member(2)], outgoing: [member(2)] },
      { voters: [member(1)], learners: [], outgoing: [] },
      { voters: [{ ...member(1), id: '' }], learners: [] },
      { voters: [{ id: memberId(1) }], learners: [] },
    ];
    for (const value of bad) {
      const data = Buffer.from(JSON.stringify(value));
      expect(() => decodeConfiguration(data), JSON.stringify(value)).toThrow(
        ConfigurationFormatError,
      );
    }
  });
});

describe('Configurations', () => {
  it('has the newest in effect, and the one before once its entry is gone', () => {
    const list = new Configurations(memberId(4), [{ index: at(0), configuration: votersOf(1) }]);
    expect(list.seenSelf).toBe(false);
    list.append(at(5), votersOf(1, 4));
    list.append(at(9), votersOf(1, 2));
    expect(list).toMatchObject({ currentIndex: 9, seenSelf: true });
    expect(list.at(at(7))).toEqual(votersOf(1, 4));
    list.truncateFrom(at(9));
    expect(list.current).toEqual(votersOf(1, 4));
    expect(() => list.append(at(5), votersOf(1))).toThrow(InvariantError);
    expect(() => list.truncateFrom(at(0))).toThrow(InvariantError);
  });

  it('keeps what the rest of the log needs', () => {
    const list = new Configurations(memberId(1), [{ index: at(0), configuration: votersOf(1) }]);
    list.append(at(5), votersOf(1, 2));
    list.append(at(9), votersOf(1, 2, 3));
    list.compactTo(at(7));
    expect(list.at(at(4))).toBeUndefined();
    expect(list.at(at(8))).toEqual(votersOf(1, 2));
    list.replaceUpTo(at(8), votersOf(1, 7), true);
    expect(list.at(at(8))).toEqual(votersOf(1, 7));
    expect(list.currentIndex).toBe(9);
    list.replaceUpTo(at(20), votersOf(1, 8), false);
    expect(list).toMatchObject({ currentIndex: 20, current: votersOf(1, 8) });
  });

  it('counts outgoing voters as voters', () => {
    const joint: Configuration = { ...votersOf(1), learners: [member(5)], outgoing: [member(2)] };
    expect([1, 2, 5].map((number) => isVoter(joint, memberId(number)))).toEqual([
      true,
      true,
      false,
    ]);
    expect([...memberIds(joint)]).toEqual([1, 2, 5].map(memberId));
  });
});
