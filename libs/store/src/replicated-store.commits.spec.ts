/** Commits of a replicated store: lost, repeated and refused commands, limits. */
import { asTerm, memoryMember } from '@orch/raft';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeCommand } from './core/command.js';
import { proposersMax } from './limits.js';
import { codeOf, commit, put, quorumRead, showList, until } from './testing/harness.js';
import { ReplicatedStoreSetup } from './testing/replicated-store-setup.js';
import type { Revision } from './versioned-store.js';

const keyA = 'core/pods/ns/a';
const keyB = 'core/pods/ns/b';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('commits of ReplicatedStore', () => {
  let setup: ReplicatedStoreSetup;

  beforeEach(async () => {
    setup = await ReplicatedStoreSetup.create();
  });

  afterEach(() => setup.destroy());

  it('proposes a lost command again after a silence or under another leader', async () => {
    await setup.open();
    setup.log.losing = 1;
    expect((await commit(setup.store, put(keyA, 'one'))).revision).toBe(1);
    setup.log.losing = 1;
    const committing = commit(setup.store, put(keyA, 'two'));
    await nextTurn();
    setup.log.lead({ term: asTerm(2), leader: memoryMember.id, role: 'leader' });
    expect((await committing).revision).toBe(2);
  });

  it('applies a command once when the log has it twice', async () => {
    await setup.open();
    setup.log.doubling = 1;
    expect((await commit(setup.store, put(keyA, 'one'))).revision).toBe(1);
    expect((await commit(setup.store, put(keyA, 'two'))).revision).toBe(2);
  });

  it('retries after a temporary refusal and reports a permanent one', async () => {
    await setup.open();
    setup.log.refusing.push('NoLeader', 'NoLeader');
    expect((await commit(setup.store, put(keyA, 'one'))).revision).toBe(1);
    setup.log.refusing.push('QueueFull');
    expect(await codeOf(setup.store.commit([put(keyA, 'two')], 5_000))).toBe('Overloaded');
    setup.log.refusing.push('TooLarge');
    expect(await codeOf(setup.store.commit([put(keyA, 'two')], 5_000))).toBe('TooLarge');
    setup.log.refusing.push('Removed');
    expect(await codeOf(setup.store.commit([put(keyA, 'two')], 5_000))).toBe('Unavailable');
    expect(setup.store.revision()).toBe(1);
  });

  it('does not report a commit as lost when an earlier attempt may be in the log', async () => {
    await setup.open();
    setup.log.hold();
    const committing = codeOf(setup.store.commit([put(keyA, 'one')], 200));
    setup.log.refusing.push('QueueFull', 'QueueFull', 'QueueFull');
    setup.log.lead({ term: asTerm(2), leader: memoryMember.id, role: 'leader' });
    expect(await committing).toBe('OutcomeUnknown');
    setup.log.release();
    await until(() => setup.store.revision() === 1, 'the commit has taken effect after all');
  });

  it('reports an unknown outcome for the commits of an evicted proposer', async () => {
    await setup.open();
    await commit(setup.store, put(keyA, 'one'));
    setup.log.hold();
    const lost = codeOf(setup.store.commit([put(keyA, 'two')], 5_000));
    for (let at = 0; at < proposersMax; at += 1) {
      const proposer = (at + 1).toString(16).padStart(16, 'f');
      setup.log.disk.commands.push(
        encodeCommand({ kind: 'register', id: { proposer, sequence: 0 }, timeMs: 1 }),
      );
    }
    setup.log.release();
    expect(await lost).toBe('OutcomeUnknown');
    expect((await commit(setup.store, put(keyA, 'three'))).revision).toBe(2);
  });

  it('remembers applied commands over a restart', async () => {
    await setup.open();
    await commit(setup.store, put(keyA, 'one'));
    await commit(setup.store, put(keyA, 'two'));
    const commands = [...setup.log.disk.commands];
    await setup.store.stop();
    await setup.open({}, setup.log.disk);
    for (const command of commands) setup.log.append(command);
    await commit(setup.store, { kind: 'delete', key: keyB });
    expect(setup.store.stateHash().appliedIndex).toBe(commands.length * 2 + 2);
    expect(setup.store.revision()).toBe(2);
  });

  it('reports an unknown outcome when the log crashes', async () => {
    await setup.open();
    const lost = codeOf(setup.store.commit([put(keyA, 'lost')], 5_000));
    const kept = codeOf(setup.store.commit([put(keyB, 'kept')], 5_000));
    await Promise.resolve();
    setup.log.crash(1);
    expect([await lost, await kept]).toEqual(['OutcomeUnknown', 'OutcomeUnknown']);
    await setup.store.stop();
    await setup.open({}, setup.log.disk);
    expect(showList(await setup.store.list('', quorumRead))).toHaveLength(1);
    expect(setup.store.revision()).toBe(1);
  });

  it('reports that a commit had no effect without a quorum', async () => {
    await setup.open();
    await commit(setup.store, put(keyA, 'one'));
    setup.log.noQuorum = true;
    expect(await codeOf(setup.store.commit([put(keyA, 'two')], 100))).toBe('Unavailable');
    expect(await codeOf(setup.store.get(keyA, quorumRead))).toBe('Unavailable');
    expect(
      (await setup.store.get(keyA, { consistency: { kind: 'any' }, timeoutMs: 1 })).entry,
    ).toBeDefined();
    expect(setup.store.status()).toMatchObject({ ready: false, reason: 'no quorum' });
  });

  it('bounds the commits in flight', async () => {
    await setup.open({ pendingCommitsMax: 2 });
    const codes = await Promise.all(
      [1, 2, 3].map((at) => codeOf(setup.store.commit([put(`${keyA}${at}`, 'x')], 5_000))),
    );
    expect(codes).toEqual(['succeeded', 'succeeded', 'Overloaded']);
  });

  it('admits only deletions when the quota is used up', async () => {
    await setup.open({ quotaBytes: 100 });
    await commit(setup.store, put(keyA, 'x'.repeat(60)));
    expect(await codeOf(setup.store.commit([put(keyB, 'x'.repeat(60))], 5_000))).toBe('NoSpace');
    await commit(setup.store, { kind: 'delete', key: keyA });
    await setup.store.compact(setup.store.revision());
    await until(() => setup.store.status().reason === undefined, 'what was deleted is dropped');
    await commit(setup.store, put(keyB, 'x'.repeat(60)));
  });

  it('rejects malformed commits', async () => {
    await setup.open();
    await expect(setup.store.commit([put('pods', 'x')], 100)).rejects.toThrow(RangeError);
    await expect(setup.store.commit([put(keyA, 'x'), put(keyA, 'y')], 100)).rejects.toThrow(
      /changed twice/,
    );
    const endless = { kind: 'put', key: keyA, bytes: Buffer.from('x'), timeToLiveMs: 0.5 } as const;
    await expect(setup.store.commit([endless], 100)).rejects.toThrow(/time to live/);
    const unreachable = { kind: 'revision', revision: (2 ** 60) as Revision } as const;
    const conflict = await setup.store.commit(
      [{ kind: 'delete', key: keyA, expect: unreachable }],
      100,
    );
    expect(conflict.succeeded).toBe(false);
    const outside = { kind: 'put', key: keyA, bytes: Buffer.from('x'), revisionOffset: 2 } as const;
    await expect(setup.store.commit([outside], 100)).rejects.toThrow(RangeError);
    expect(
      await codeOf(setup.store.commit([put(`core/pods/${'x'.repeat(1_100)}`, 'x')], 100)),
    ).toBe('TooLarge');
  });
});
