import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROPOSERS_MAX, SEQUENCE_WINDOW } from '../limits.js';
import { object, put, show } from '../testing/harness.js';
import { type Operation, type Revision, StoreError } from '../versioned-store.js';
import { type Command, decodeCommand, encodeCommand } from './command.js';
import { ProposerTable } from './proposer-table.js';
import { SequenceWindow } from './sequence-window.js';
import { StateMachine } from './state-machine.js';

/** Who is registered by the first entry of the log. */
const PROPOSER = '0000000000000001';
const A = 'core/pods/ns/a';

let sequence = 0;

function next(): number {
  sequence += 1;
  return sequence;
}

function txn(operations: Operation[], at = next(), proposer = PROPOSER): Command {
  return { kind: 'txn', id: { proposer, sequence: at }, timeMs: 5_000, operations };
}

function apply(machine: StateMachine, command: Command) {
  return machine.apply(machine.appliedIndex + 1, encodeCommand(command));
}

function register(machine: StateMachine, nonce: number) {
  const proposer = nonce.toString(16).padStart(16, 'a');
  return apply(machine, { kind: 'register', id: { proposer, sequence: 0 }, timeMs: 0 })
    ?.registration;
}

function registeredMachine(): StateMachine {
  const machine = new StateMachine();
  expect(register(machine, 0)).toEqual({ proposer: PROPOSER, evicted: undefined });
  return machine;
}

describe('command codec', () => {
  it('gives back what it was given', () => {
    const revision = (2 ** 40) as Revision;
    const operations: Operation[] = [
      { kind: 'put', key: 'core/pods/ns/ünï', bytes: Buffer.from('x'), revisionOffset: 1 },
      { kind: 'put', key: A, bytes: Buffer.alloc(0), timeToLiveMs: 7, expect: { kind: 'absent' } },
      { kind: 'delete', key: A, expect: { kind: 'revision', revision } },
      { kind: 'delete', key: A, lastBytes: Buffer.from('last'), revisionOffset: 2 },
      { kind: 'check', key: A, expect: { kind: 'revision', revision } },
    ];
    const id = { proposer: PROPOSER, sequence: 2 ** 33 };
    const commands: Command[] = [
      { kind: 'txn', id, timeMs: 1_800_000_000_000, operations },
      { kind: 'compact', id, timeMs: 0, revision },
      { kind: 'expire', id, timeMs: 1 },
      { kind: 'register', id, timeMs: 1 },
      { kind: 'hash', id, timeMs: 1, index: 2 ** 40, hash: 0xffff_fff0, member: PROPOSER },
    ];
    for (const command of commands) expect(decodeCommand(encodeCommand(command))).toEqual(command);
  });

  it('refuses what was cut short or has grown, wherever', () => {
    const id = { proposer: '00000000000000aa', sequence: 1 };
    const all: Command[] = [
      {
        kind: 'txn',
        id,
        timeMs: 1,
        operations: [
          {
            kind: 'put',
            key: 'a',
            bytes: Buffer.from('xy'),
            expect: { kind: 'revision', revision: 3 as Revision },
            revisionOffset: 1,
          },
          { kind: 'delete', key: 'b', lastBytes: Buffer.from('z') },
        ],
      },
      { kind: 'compact', id, timeMs: 1, revision: 2 as Revision },
      { kind: 'expire', id, timeMs: 1 },
      { kind: 'hash', id, timeMs: 1, index: 3, hash: 4, member: id.proposer },
    ];
    for (const bytes of all.map(encodeCommand)) {
      for (let length = 0; length < bytes.length; length += 1) {
        expect(() => decodeCommand(bytes.subarray(0, length))).toThrow(StoreError);
      }
      expect(() => decodeCommand(Buffer.concat([bytes, Buffer.alloc(1)]))).toThrow(StoreError);
    }
  });

  it('refuses what it does not know', () => {
    const bytes = encodeCommand(txn([put(A, 'one')]));
    bytes[0] = 9;
    expect(() => decodeCommand(bytes)).toThrow(/format 9/);
    bytes[0] = 2;
    bytes[1] = 9;
    expect(() => decodeCommand(bytes)).toThrow(/unknown kind/);
  });
});

describe('StateMachine', () => {
  it('applies a command id once, of registered proposers only', () => {
    const machine = registeredMachine();
    const command = txn([put(A, 'one')]);
    expect(apply(machine, command)?.result).toMatchObject({ succeeded: true, revision: 1 });
    expect(apply(machine, command)).toBeUndefined();
    const stranger = { ...command, id: { ...command.id, proposer: 'f'.repeat(16) } };
    expect(apply(machine, stranger)).toMatchObject({ result: undefined, events: [] });
    expect(machine.revision).toBe(1);
  });

  it('skips entries of the log itself', () => {
    const machine = registeredMachine();
    expect(machine.apply(2, Buffer.alloc(0))).toBeUndefined();
    expect(machine.appliedIndex).toBe(2);
  });

  it('never applies a command that is too old to be remembered', () => {
    const machine = registeredMachine();
    apply(machine, txn([put(A, 'new')], SEQUENCE_WINDOW + 10));
    expect(apply(machine, txn([put(A, 'old')], 10))).toBeUndefined();
    expect(apply(machine, txn([put(A, 'late')], 11))).toBeDefined();
    expect(apply(machine, txn([put(A, 'late')], 11))).toBeUndefined();
  });

  it('knows a bounded number of proposers, and forgets the one silent longest for good', () => {
    const machine = registeredMachine();
    const others = Array.from({ length: PROPOSERS_MAX - 1 }, (_, at) => register(machine, at + 1));
    apply(machine, txn([put(A, 'one')]));
    const { proposer, evicted } = register(machine, 100)!;
    expect(evicted).toBe(others[0]?.proposer);
    expect(machine.proposers.size).toBe(PROPOSERS_MAX);
    expect(apply(machine, txn([put(A, 'two')], 1, evicted))?.result).toBeUndefined();
    expect(apply(machine, txn([put(A, 'two')], 1, proposer))?.result?.revision).toBe(2);
    // The same registration once more: nothing new as long as it is known, a new id afterwards.
    expect(register(machine, 100)).toEqual({ proposer, evicted: undefined });
    expect(register(machine, 1)?.proposer).not.toBe(evicted);
  });

  it('has a checksum over what it knows of proposers, which a restored one must show', () => {
    const machine = registeredMachine();
    const stored = new Map<string, Buffer>();
    const take = () => {
      for (const [proposer, window] of machine.proposers.takeChanges()) {
        if (window) stored.set(proposer, window);
        else stored.delete(proposer);
      }
    };
    for (let at = 0; at < PROPOSERS_MAX + 3; at += 1) {
      const { proposer } = register(machine, at + 1)!;
      apply(machine, txn([put(A, `${at}`)], 1, proposer));
      if (at % 2 === 0) take();
    }
    take();
    const windows = new Map(
      [...stored].map(([proposer, bytes]) => [proposer, SequenceWindow.decode(proposer, bytes)]),
    );
    new ProposerTable().restore(windows, machine.facts.proposersChecksum);
    windows.delete([...windows.keys()][5]!);
    expect(() => new ProposerTable().restore(windows, machine.facts.proposersChecksum)).toThrow(
      expect.objectContaining({ code: 'Corrupt' }),
    );
  });

  it('lets time only rise, and expires by it', () => {
    const machine = registeredMachine();
    const brief: Operation = { kind: 'put', key: A, ...object('brief'), timeToLiveMs: 100 };
    apply(machine, txn([brief]));
    const expire = (timeMs: number): Command => ({
      kind: 'expire',
      id: { proposer: PROPOSER, sequence: next() },
      timeMs,
    });
    expect(apply(machine, expire(5_099))?.events).toEqual([]);
    expect(apply(machine, expire(1))?.events).toEqual([]);
    expect(apply(machine, expire(5_100))?.events.map(({ entry }) => show(entry))).toEqual([
      `${A}@1/2 {"rv":"2","text":"brief"}`,
    ]);
    expect(machine.expiry.nextMs).toBeUndefined();
  });

  it('forgets a time to live that a later version does not have', () => {
    const machine = registeredMachine();
    apply(machine, txn([{ kind: 'put', key: A, ...object('brief'), timeToLiveMs: 100 }]));
    apply(machine, txn([put(A, 'lasting')]));
    expect(machine.expiry.nextMs).toBeUndefined();
  });

  it('has one hash for one log, and another for another', () => {
    const key = fc.constantFrom(A, 'core/pods/ns/b', 'core/pods/ns/c');
    const operation = fc.oneof(
      fc.tuple(key, fc.nat(9)).map(([name, text]) => put(name, `${text}`)),
      key.map((name): Operation => ({ kind: 'delete', key: name })),
    );
    fc.assert(
      fc.property(fc.array(operation, { minLength: 1, maxLength: 20 }), (operations) => {
        const commands = operations.map((single, at) => txn([single], at + 1));
        const [left, right, other] = [1, 2, 3].map(registeredMachine) as [
          StateMachine,
          StateMachine,
          StateMachine,
        ];
        for (const command of commands) {
          apply(left, command);
          apply(right, command);
          apply(other, command);
        }
        apply(other, txn([put(A, 'one more')], commands.length + 1));
        expect(left.facts).toEqual(right.facts);
        expect(other.hash).not.toBe(left.hash);
      }),
      { numRuns: 50 },
    );
  });

  it('drops exactly the versions that no read may ask for any more', () => {
    const machine = registeredMachine();
    const { keys } = machine;
    apply(machine, txn([put(A, 'one')]));
    apply(machine, txn([put(A, 'two')]));
    apply(machine, txn([{ kind: 'delete', key: A }]));
    apply(machine, txn([put(A, 'four')]));
    expect(keys.historyBytes).toBeGreaterThan(0);
    expect(keys.sweep(1, 10)).toEqual([]);
    expect(keys.sweep(2, 10).map(({ revision }) => revision)).toEqual([1]);
    expect(keys.at(A, 2)).toMatchObject({ revision: 2 });
    expect(keys.sweep(3, 10).map(({ revision }) => revision)).toEqual([2, 3]);
    expect(keys.at(A, 3)).toBeUndefined();
    expect(keys.historyBytes).toBe(0);
    expect(keys.at(A, 4)).toMatchObject({ revision: 4 });
  });
});
