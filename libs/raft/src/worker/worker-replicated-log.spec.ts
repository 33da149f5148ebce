import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { systemClock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asLogIndex, asMemberId, asTerm, branded } from '../core/brands.js';
import { commandBytesMax } from '../core/limits.js';
import type { ReplicaObserver } from '../log-observer.js';
import { LogRecorder, StateDisk } from '../testing/log-recorder.js';
import { MemoryDisk, MemoryReplicatedLog, memoryMember } from '../testing/memory-log.js';
import { quietLogger } from '../testing/replica-cluster.js';
import { trafficObserver } from '../transport/traffic-observer.js';
import type { Port } from './port-channel.js';
import { ReplicaWorker, type WorkerLogDependencies } from './replica-worker.js';
import { WorkerReplicatedLog } from './worker-replicated-log.js';

const deadline = (afterMs = 5_000) => systemClock.monotonicMs() + afterMs;

async function until(condition: () => boolean, what: string): Promise<void> {
  const giveUpMs = deadline();
  while (!condition()) {
    if (systemClock.monotonicMs() > giveUpMs) throw new Error(`timed out waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

describe('WorkerReplicatedLog', () => {
  let inner: MemoryReplicatedLog;
  let parts: WorkerLogDependencies;
  let hosted: WorkerReplicatedLog;
  let state: LogRecorder;
  let ports: MessagePort[];
  let lines: unknown[][];
  let synced: number[];
  let traffic: unknown[][];
  let fatal: Error[];
  let endThread: (error: Error) => void;
  let terminated: boolean;

  beforeEach(() => {
    const { port1, port2 } = new MessageChannel();
    ports = [port1, port2];
    inner = new MemoryReplicatedLog(new MemoryDisk());
    state = new LogRecorder(new StateDisk());
    lines = [];
    synced = [];
    traffic = [];
    fatal = [];
    terminated = false;
    new ReplicaWorker({
      port: port2 as Port,
      clock: systemClock,
      createLog: (given) => {
        parts = given;
        return inner;
      },
    });
    hosted = new WorkerReplicatedLog({
      connect: (onEnded) => {
        endThread = onEnded;
        return {
          port: port1 as Port,
          terminate: async () => {
            terminated = true;
          },
        };
      },
      clock: systemClock,
      logger: {
        ...quietLogger,
        info: (...line: unknown[]) => lines.push(line),
        error: (...line: unknown[]) => lines.push(line),
      },
      observer: {
        synced: (entryCount: number) => synced.push(entryCount),
        peerSent: (...told: unknown[]) => traffic.push(['sent', ...told]),
        peerReceived: (...told: unknown[]) => traffic.push(['received', ...told]),
        peerDropped: (...told: unknown[]) => traffic.push(['dropped', ...told]),
      } as unknown as ReplicaObserver,
      onFatal: (error) => fatal.push(error),
    });
  });

  afterEach(async () => {
    await hosted.stop();
    for (const port of ports) port.close();
  });

  const start = () => hosted.start(state.state, state);

  it('carries proposals there and committed entries back, byte for byte and in order', async () => {
    await start();
    const bytes = Buffer.from([0, 255, 1, 254, 0]);
    hosted.propose(1, bytes);
    for (let id = 2; id <= 300; id += 1) hosted.propose(id, Buffer.from(`command ${id}`));
    await until(() => state.texts.length === 300, 'all are applied');
    expect(inner.disk.commands[0]).toEqual(bytes);
    expect(state.texts.at(-1)).toBe('command 300');
    expect(state.appliedIndex).toBe(300);
    inner.appendEmpty();
    await until(() => state.texts.length === 301, 'the empty entry is applied');
    expect(state.texts.at(-1)).toBe('');
  });

  it('sends no further entries before the state has applied the last ones', async () => {
    await start();
    let release: () => void = () => undefined;
    let calls = 0;
    state.beforeApply = () => {
      calls += 1;
      return new Promise((resolve) => {
        release = resolve;
      });
    };
    hosted.propose(1, Buffer.from('one'));
    await until(() => calls === 1, 'the first one is delivered');
    hosted.propose(2, Buffer.from('two'));
    await until(() => inner.disk.lastIndex === 1, 'the first one is committed');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(calls).toBe(1);
    release();
    await until(() => calls === 2, 'the second one is delivered');
    release();
    await until(() => state.texts.length === 2, 'both are applied');
  });

  it('carries refusals, of the other thread and of its own', async () => {
    await start();
    inner.refusing.push('NoLeader');
    hosted.propose(7, Buffer.from('x'));
    hosted.propose(8, Buffer.alloc(commandBytesMax + 1));
    await until(() => state.refusals.length === 2, 'both are refused');
    const told = state.refusals.map(({ ids, error }) => [...ids, error.code]);
    expect(told).toContainEqual([7, 'NoLeader']);
    expect(told).toContainEqual([8, 'TooLarge']);
  });

  it('passes barriers, truncation, membership changes and facts to the log', async () => {
    await start();
    hosted.propose(1, Buffer.from('one'));
    await until(() => state.texts.length === 1, 'one is applied');
    expect(await hosted.readBarrier(deadline())).toBe(1);
    inner.noQuorum = true;
    await expect(hosted.readBarrier(deadline())).rejects.toMatchObject({
      name: 'LogError',
      code: 'NoQuorum',
    });
    inner.noQuorum = false;
    await hosted.truncate(asLogIndex(1));
    expect(inner.truncations).toEqual([1]);
    const member = { ...memoryMember, id: '00000000000000b2', name: 'second' };
    const changed = await hosted.changeMembership(
      { kind: 'addLearner', member: branded(member) },
      deadline(),
    );
    expect(changed.learners).toEqual([member]);
    await expect(
      hosted.changeMembership({ kind: 'promote', id: asMemberId('nobody') }, deadline()),
    ).rejects.toMatchObject({ name: 'MembershipError', code: 'UnknownMember' });
    hosted.setFacts({ pid: 42 });
    const [self] = await hosted.peerStatus(deadline());
    expect(self).toMatchObject({ member: { name: 'default' }, facts: { pid: 42 } });
  });

  it('fails a barrier at its deadline when the other thread does not respond', async () => {
    await start();
    inner.readBarrier = () => new Promise(() => undefined);
    await expect(hosted.readBarrier(deadline(10))).rejects.toMatchObject({ code: 'NoQuorum' });
  });

  it('reports leadership and status when they change', async () => {
    await start();
    expect(hosted.status()).toMatchObject({ role: 'leader', term: 1 });
    inner.lead({ term: asTerm(2), leader: undefined, role: 'follower' });
    await until(() => state.leaderships.some(({ term }) => term === 2), 'the change is told');
    expect(hosted.status()).toMatchObject({ role: 'follower', term: 2 });
    hosted.propose(1, Buffer.from('one'));
    await until(() => hosted.status().commitIndex === 1, 'the status follows');
  });

  it('reports the status together with an entry of the log itself, such as a configuration', async () => {
    await start();
    inner.appendEmpty();
    await until(() => state.texts.length === 1, 'the entry is applied');
    expect(hosted.status().commitIndex).toBe(1);
  });

  it('sends and installs snapshots through the main thread', async () => {
    await start();
    for (let id = 1; id <= 25; id += 1) hosted.propose(id, Buffer.from(`command ${id}`));
    await until(() => state.texts.length === 25, 'all are applied');
    const { chunks, appliedIndex } = await inner.takeSnapshot();
    expect(appliedIndex).toBe(25);
    expect(chunks).toHaveLength(3);
    expect(state.snapshotsOpen).toBe(0);
    const newer = JSON.stringify([{ index: 40, text: 'from elsewhere' }]);
    const point = await inner.giveSnapshot([Buffer.from(newer)]);
    expect(point.index).toBe(40);
    expect(state.texts).toEqual(['from elsewhere']);
    expect(state.disk.installed).toMatchObject({ index: 40 });
    hosted.propose(99, Buffer.from('after'));
    await until(() => state.texts.at(-1) === 'after', 'it goes on after the snapshot');
    expect(state.appliedIndex).toBe(41);
  });

  it('writes the lines and makes the measurements of the other thread here', async () => {
    await start();
    const failure = Object.assign(new Error('no'), { code: 'EIO' });
    parts.logger.child({ part: 'x' }).error({ error: failure }, 'it failed');
    parts.observer.synced(3, 4, 5);
    await until(() => lines.length > 0 && synced.length > 0, 'both are told');
    expect(lines[0]).toMatchObject([
      { part: 'x', error: { type: 'Error', message: 'no', code: 'EIO' } },
      'it failed',
    ]);
    expect(synced).toEqual([3]);
  });

  it('reports the traffic of the other thread as sums, and every loss', async () => {
    await start();
    const transport = trafficObserver(parts.observer);
    transport.sent(asMemberId('b'), 2, 100);
    transport.dropped(asMemberId('c'), 4, 'queueFull');
    transport.sent(asMemberId('c'), 1, 7);
    transport.received(asMemberId('b'), 1, 30);
    transport.sent(asMemberId('b'), 1, 50);
    await until(() => traffic.length >= 4, 'all is told');
    expect(traffic.splice(0)).toEqual([
      ['dropped', 'c', 4, 'queueFull'],
      ['sent', 'b', 150],
      ['sent', 'c', 7],
      ['received', 'b', 30],
    ]);
    transport.received(asMemberId('b'), 1, 5);
    await until(() => traffic.length > 0, 'what came later is told');
    expect(traffic).toEqual([['received', 'b', 5]]);
  });

  it('rejects a start with the error of the log', async () => {
    await expect(
      hosted.start({ ...state.state, appliedIndex: asLogIndex(5) }, state),
    ).rejects.toMatchObject({ name: 'LogError', code: 'Corrupt' });
    expect(terminated).toBe(true);
    expect(fatal).toEqual([]);
  });

  it('ends the process once when the other thread fails', async () => {
    await start();
    inner.readBarrier = () => new Promise(() => undefined);
    const waiting = hosted.readBarrier(deadline()).catch((error: { code: string }) => error.code);
    parts.onFatal(new Error('the disk is gone'));
    await until(() => fatal.length === 1, 'it is told');
    endThread(new Error('ended'));
    expect(fatal.map(({ message }) => message)).toEqual(['the disk is gone']);
    expect(await waiting).toBe('Stopped');
    expect(hosted.status().unavailableReason).toBe('the disk is gone');
    hosted.propose(1, Buffer.from('late'));
    await until(() => state.refusals.length === 1, 'a late proposal is refused');
    expect(state.refusals[0]!.error.code).toBe('Stopped');
  });

  it('ends the process when applying fails', async () => {
    await start();
    state.beforeApply = () => {
      throw new Error('cannot apply');
    };
    hosted.propose(1, Buffer.from('one'));
    await until(() => fatal.length === 1, 'it is told');
    expect(fatal[0]!.message).toBe('applying committed entries failed: cannot apply');
  });

  it('stops in order while the state still holds entries back', async () => {
    await start();
    let held = false;
    state.beforeApply = () => {
      held = true;
      return new Promise(() => undefined);
    };
    hosted.propose(1, Buffer.from('one'));
    await until(() => held, 'it is delivered');
    await hosted.stop();
    expect(terminated).toBe(true);
    await expect(hosted.readBarrier(deadline())).rejects.toMatchObject({ code: 'Stopped' });
  });
});
