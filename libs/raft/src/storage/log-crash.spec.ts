/**
 * A log whose process or machine ends at any moment, on a disk that loses everything it may: the
 * recovered log is the one before or after the change in progress, complete, and never reported as
 * damaged.
 */

import { describe, expect, it } from 'vitest';
import { asLogIndex, asMemberId, branded } from '../core/brands.js';
import { crc32c } from '../core/log/crc32c.js';
import { logOrigin } from '../core/log/entry-checksum.js';
import type { Configuration, Entry, LogPoint } from '../core/types.js';
import {
  append,
  chain,
  configurationOf,
  pointOf,
  testIdentity,
  testStart,
  vote,
} from '../testing/log-entries.js';
import { ManualClock } from '../testing/manual-clock.js';
import { SimDisk } from '../testing/sim-disk.js';
import { entryKey } from './log-codec.js';
import { LogStore } from './log-store.js';
import type { Identity } from './stored-log.js';

const logDirectory = '/data/log';
const seedCount = 40;
const stepsPerRun = 50;
const index = (value: number) => asLogIndex(value);

/** The log as its writer has it; every change makes a new one. */
interface Model {
  readonly identity: Identity | undefined;
  readonly start: LogPoint;
  readonly entries: readonly Entry[];
  readonly term: number;
  readonly votedFor: string | undefined;
  readonly commitIndex: number;
  readonly configurations: readonly {
    readonly index: number;
    readonly configuration: Configuration;
  }[];
  readonly peers: readonly string[];
  readonly admitted: boolean;
}

const emptyModel: Model = {
  identity: undefined,
  start: logOrigin,
  entries: [],
  term: 0,
  votedFor: undefined,
  commitIndex: 0,
  configurations: [{ index: 0, configuration: testStart.configuration }],
  peers: [],
  admitted: false,
};

interface Outcome {
  done: boolean;
  failed: boolean;
}

interface Step {
  readonly after: Model;
  run(store: LogStore): Promise<unknown>;
}

describe('a log on a disk that fails', () => {
  it.each(Array.from({ length: seedCount }, (_, at) => at + 1))(
    'is found as it was before or after the last change (seed %i)',
    (seed) => new Run(seed).all(),
  );

  it.each(Array.from({ length: 14 }, (_, at) => at))(
    'never mixes a dropped log with the one after the snapshot (crash after %i ms)',
    async (crashMs) => {
      for (let seed = 1; seed <= 8; seed += 1) await new Run(seed * 4 + 2).startOver(crashMs);
    },
  );
});

class Run {
  private readonly clock = new ManualClock();
  private readonly disk: SimDisk;
  private draws = 0;
  private model = emptyModel;
  private store!: LogStore;

  constructor(private readonly seed: number) {
    this.disk = new SimDisk({
      clock: this.clock,
      random: () => this.draw(),
      faults: {
        syncMs: [1, 4],
        writeMs: [0, 1],
        unsyncedLoss: seed % 2 === 0 ? 'subset' : 'suffix',
        fileSwitchRate: 0.5,
        markLossRate: seed % 3 === 0 ? 0.5 : 0,
        syncErrorRate: seed % 4 === 0 ? 0.05 : 0,
      },
    });
  }

  async all(): Promise<void> {
    await this.restart([emptyModel]);
    let changes = 0;
    for (let count = 0; count < stepsPerRun; count += 1) {
      const before = this.model;
      const step = this.next();
      const failures = this.disk.counts.syncErrors;
      const outcome = this.outcomeOf(step.run(this.store));
      if (this.pick(4) === 0) {
        await this.pass(this.pick(5));
        this.disk.crash({ machine: this.pick(2) === 0 });
        await this.restart(outcome.done ? [step.after] : [before, step.after]);
        continue;
      }
      await this.settled(outcome);
      if (outcome.failed) {
        expect(this.disk.counts.syncErrors).toBeGreaterThan(failures);
        this.disk.crash({ machine: this.pick(2) === 0 });
        await this.restart([before, step.after]);
        continue;
      }
      changes += 1;
      this.model = step.after;
    }
    expect(changes).toBeGreaterThan(stepsPerRun / 3);
  }

  /** In steps of a millisecond, so that each result starts its next operation when it arrives. */
  private async pass(durationMs: number): Promise<void> {
    for (let passedMs = 0; passedMs < durationMs; passedMs += 1) await this.clock.advance(1);
  }

  private async settled(outcome: Outcome): Promise<void> {
    for (let passedMs = 0; passedMs < 100; passedMs += 1) {
      if (outcome.done || outcome.failed) return;
      await this.clock.advance(1);
    }
    throw new Error('not settled in time');
  }

  private outcomeOf(promise: Promise<unknown>): Outcome {
    const outcome: Outcome = { done: false, failed: false };
    promise.then(
      () => {
        outcome.done = true;
      },
      () => {
        outcome.failed = true;
      },
    );
    return outcome;
  }

  /** A snapshot contradicts the log; later entries overwrite the remains of the old ones. */
  async startOver(crashMs: number): Promise<void> {
    this.disk.faults.fileSwitchRate = 1;
    await this.restart([emptyModel]);
    await this.do(this.create());
    const old = { ...this.model, term: 1, entries: chain(testStart, 1, 'a', 'b', 'c', 'd', 'e') };
    await this.do({ after: old, run: (store) => append(store, old.entries) });
    const point = { index: index(2), term: 2, checksum: 22 };
    const { configuration } = testStart;
    const moved = { ...startedAfter(old, branded(point), configuration), entries: [], term: 2 };
    this.outcomeOf(this.store.moveTo(branded({ ...point, configuration })));
    await this.pass(crashMs);
    this.disk.crash({ machine: true });
    await this.restart([old, moved]);
    if (this.model.entries.length > 0) {
      await this.do({
        after: moved,
        run: (store) => store.moveTo(branded({ ...point, configuration })),
      });
    }
    for (const word of ['C', 'D']) {
      const entries = [...this.model.entries];
      entries.push(...chain(branded(entries.at(-1) ?? point), 2, word));
      const after = { ...this.model, entries };
      await this.do({ after, run: (store) => append(store, entries.slice(-1)) });
    }
    this.disk.crash({ machine: true });
    await this.restart([this.model]);
  }

  private async do(step: Step): Promise<void> {
    const outcome = this.outcomeOf(step.run(this.store));
    await this.settled(outcome);
    expect(outcome.done).toBe(true);
    this.model = step.after;
  }

  private async restart(expected: readonly Model[]): Promise<void> {
    const bounds = { cacheEntriesMax: 1_000, cacheBytesMax: 1_000_000 };
    this.store = new LogStore({
      disk: this.disk,
      directory: logDirectory,
      clock: this.clock,
      ...bounds,
    });
    this.disk.faults.syncErrorRate = 0;
    const loading = this.store.load();
    await this.settled(this.outcomeOf(loading));
    const stored = await loading;
    if (this.seed % 4 === 0) this.disk.faults.syncErrorRate = 0.05;
    const found: Model = stored
      ? {
          identity: stored.identity,
          start: stored.start,
          entries: stored.tail,
          term: stored.hardState.term,
          votedFor: stored.hardState.votedFor,
          commitIndex: stored.hardState.commitIndex,
          configurations: stored.configurations,
          peers: [...stored.peers.keys()],
          admitted: stored.admitted,
        }
      : emptyModel;
    expect(expected).toContainEqual(found);
    if (found.entries.length > 0) await this.expectReadable(found);
    const leftovers = { gte: entryKey(0), lt: entryKey(found.start.index + 1) };
    expect(this.disk.rowsOf(logDirectory, leftovers)).toEqual([]);
    this.model = found;
  }

  private async expectReadable({ entries }: Model): Promise<void> {
    const from = entries[0]!.index;
    const to = entries.at(-1)!.index;
    expect(await this.store.read(from, to, 1_000_000)).toEqual(entries);
  }

  private next(): Step {
    const model = this.model;
    if (!model.identity) return this.create();
    const steps = [this.append, this.append, this.append, this.replace, this.vote];
    steps.push(this.cut, this.move, this.notePeer, this.noteAdmitted);
    return steps[this.pick(steps.length)]!.call(this, model);
  }

  private create(): Step {
    return {
      after: { ...emptyModel, identity: testIdentity },
      run: (store) => store.create(testIdentity, testStart, false),
    };
  }

  private append(model: Model): Step {
    return this.write(model, model.entries);
  }

  private replace(model: Model): Step {
    const kept = model.entries.filter(
      (entry) => entry.index <= model.commitIndex || this.pick(2) === 0,
    );
    const contiguous = kept.filter((entry, at) => entry.index === model.start.index + at + 1);
    return this.write(model, contiguous);
  }

  private write(model: Model, kept: readonly Entry[]): Step {
    const last = kept.at(-1) ?? model.start;
    const term = Math.max(model.term, last.term) + this.pick(2);
    const words = Array.from({ length: 1 + this.pick(5) }, (_, at) =>
      this.pick(6) === 0 ? 'configuration' : `${this.draws} ${at}`,
    );
    const added = chain(last, term, ...words);
    const truncates = kept.length < model.entries.length;
    const configurations = [
      ...model.configurations.filter((known) => known.index <= last.index),
      ...added
        .filter(({ kind }) => kind === 'configuration')
        .map((entry) => ({
          index: entry.index,
          configuration: configurationOf(`c${entry.index}`),
        })),
    ];
    const votedFor = term > model.term ? undefined : model.votedFor;
    const after = { ...model, entries: [...kept, ...added], term, votedFor, configurations };
    return {
      after,
      run: (store) => append(store, added, truncates ? last.index + 1 : undefined, votedFor),
    };
  }

  private vote(model: Model): Step {
    const term = model.term + 1;
    const votedFor = `id-${this.pick(3)}`;
    const last = model.entries.at(-1) ?? model.start;
    const commitIndex = model.commitIndex + this.pick(last.index - model.commitIndex + 1);
    return {
      after: { ...model, term, votedFor, commitIndex },
      run: (store) => vote(store, term, votedFor, commitIndex),
    };
  }

  private cut(model: Model): Step {
    const last = model.entries.at(-1) ?? model.start;
    const at = model.start.index + this.pick(last.index - model.start.index + 1);
    const point = model.entries.find((entry) => entry.index === at) ?? model.start;
    return {
      after: startedAfter(model, point, configurationAt(model, at)),
      run: (store) => store.compact(index(at)),
    };
  }

  private move(model: Model): Step {
    const configuration = configurationOf(`m${this.draws}`);
    const last = model.entries.at(-1) ?? model.start;
    const own = model.entries[this.pick(model.entries.length)];
    if (own && this.pick(2) === 0) {
      return {
        after: startedAfter(model, own, configuration),
        run: (store) => store.moveTo({ ...pointOf(own), configuration }),
      };
    }
    const least = model.commitIndex + 1;
    const at = least + this.pick(last.index - least + 4);
    const point = { index: index(at), term: model.term + this.pick(2), checksum: this.draws };
    const after: Model = {
      ...model,
      start: branded(point),
      entries: [],
      commitIndex: at,
      term: Math.max(model.term, point.term),
      votedFor: point.term > model.term ? undefined : model.votedFor,
      configurations: [{ index: at, configuration }],
    };
    return { after, run: (store) => store.moveTo(branded({ ...point, configuration })) };
  }

  private notePeer(model: Model): Step {
    const peer = `peer-${model.peers.length}`;
    return {
      after: { ...model, peers: [...model.peers, peer] },
      run: (store) => store.notePeer(asMemberId(peer), 'storage'),
    };
  }

  private noteAdmitted(model: Model): Step {
    return { after: { ...model, admitted: true }, run: (store) => store.noteAdmitted() };
  }

  private pick(count: number): number {
    return Math.floor(this.draw() * count);
  }

  private draw(): number {
    this.draws += 1;
    return crc32c(Buffer.from(`${this.seed} ${this.draws}`)) / 0x1_0000_0000;
  }
}

function startedAfter(model: Model, point: LogPoint, configuration: Configuration): Model {
  if (point.index <= model.start.index) return model;
  return {
    ...model,
    start: pointOf(point),
    entries: model.entries.filter((entry) => entry.index > point.index),
    commitIndex: Math.max(model.commitIndex, point.index),
    configurations: [
      { index: point.index, configuration },
      ...model.configurations.filter((known) => known.index > point.index),
    ],
  };
}

function configurationAt(model: Model, at: number): Configuration {
  return model.configurations.findLast((known) => known.index <= at)!.configuration;
}
