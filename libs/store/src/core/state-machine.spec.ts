import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  expiresAtMaxMs,
  keyBytesMax,
  operationsMax,
  proposersMax,
  sequenceWindow,
} from '../limits.js';
import { object, put, show } from '../testing/harness.js';
import { type Operation, type Revision, StoreError } from '../versioned-store.js';
import { type Command, decodeCommand, encodeCommand } from './command.js';
import { ProposerTable } from './proposer-table.js';
import { SequenceWindow } from './sequence-window.js';
import { StateMachine } from './state-machine.js';

/** Who is registered by the first entry of the log. */
const proposerId = '0000000000000001';
const keyA = 'core/pods/ns/a';

let sequence = 0;

function next(): number {
  sequence += 1;
  return sequence;
}

function txn(operations: Operation[], at = next(), proposer = proposerId): Command {
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
  expect(register(machine, 0)).toEqual({ proposer: proposerId, evicted: undefined });
  return machine;
}

describe('command codec', () => {
  it('decodes an encoded command to an equal one', () => {
    const revision = (2 ** 40) as Revision;
    const operations: Operation[] = [
      { kind: 'put', key: 'core/pods/ns/ünï', bytes: Buffer.from('x'), revisionOffset: 1 },
      {
        kind: 'put',
        key: keyA,
        bytes: Buffer.alloc(0),
        timeToLiveMs: 7,
        expect: { kind: 'absent' },
      },
      { kind: 'delete', key: keyA, expect: { kind: 'revision', revision } },
      { kind: 'delete', key: keyA, lastBytes: Buffer.from('last'), revisionOffset: 2 },
      { kind: 'check', key: keyA, expect: { kind: 'revision', revision } },
    ];
    const id = { proposer: proposerId, sequence: 2 ** 33 };
    const commands: Command[] = [
      { kind: 'txn', id, timeMs: 1_800_000_000_000, operations },
      { kind: 'compact', id, timeMs: 0, revision },
      { kind: 'expire', id, timeMs: 1 },
      { kind: 'register', id, timeMs: 1 },
      { kind: 'hash', id, timeMs: 1, index: 2 ** 40, hash: 0xffff_fff0, member: proposerId },
    ];
    for (const command of commands) expect(decodeCommand(encodeCommand(command))).toEqual(command);
  });

  it('rejects a command that is truncated or extended anywhere', () => {
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

  it('rejects unknown formats, kinds and operations', () => {
    const bytes = encodeCommand(txn([put(keyA, 'one')]));
    bytes[0] = 9;
    expect(() => decodeCommand(bytes)).toThrow(/format 9/);
    bytes[0] = 2;
    bytes[1] = 9;
    expect(() => decodeCommand(bytes)).toThrow(/unknown kind/);
  });
});

describe('StateMachine', () => {
  it('applies a command id once and only for registered proposers', () => {
    const machine = registeredMachine();
    const command = txn([put(keyA, 'one')]);
    expect(apply(machine, command)?.result).toMatchObject({ succeeded: true, revision: 1 });
    expect(apply(machine, command)).toBeUndefined();
    const stranger = { ...command, id: { ...command.id, proposer: 'f'.repeat(16) } };
    expect(apply(machine, stranger)).toMatchObject({ result: undefined, events: [] });
    expect(machine.revision).toBe(1);
  });

  it('refuses a command without a sequence', () => {
    const machine = registeredMachine();
    const { hash } = machine;
    expect(apply(machine, txn([put(keyA, 'one')], 0))).toEqual({
      ...{ proposer: proposerId, sequence: 0, result: undefined, events: [] },
    });
    expect(machine).toMatchObject({ appliedIndex: 2, revision: 0, hash });
  });

  it.each<[string, Operation[]]>([
    ['changes a key twice', [put(keyA, 'one'), put(keyA, 'two')]],
    ['has a malformed key', [put(keyA, 'one'), put('pods', 'two')]],
    ['has a key that is too long', [put(`core/pods/${'k'.repeat(keyBytesMax)}`, 'one')]],
    [
      'has an offset outside of its bytes',
      [put(keyA, 'one'), { ...put('core/pods/ns/b', 'two'), revisionOffset: 99 } as Operation],
    ],
    [
      'expires after the latest time',
      [{ ...put(keyA, 'one'), timeToLiveMs: expiresAtMaxMs } as Operation],
    ],
  ])('refuses a whole commit that %s', (_what, operations) => {
    const machine = registeredMachine();
    const { hash } = machine;
    const refused = apply(machine, txn(operations));
    expect(refused).toMatchObject({ result: undefined, events: [] });
    expect(machine).toMatchObject({ appliedIndex: 2, revision: 0, hash });
    expect(machine.keys.keyCount).toBe(0);
    expect(apply(machine, txn([put(keyA, 'one')]))?.result).toMatchObject({ revision: 1 });
  });

  it('refuses a commit with too many operations', () => {
    const machine = registeredMachine();
    const operations = Array.from({ length: operationsMax }, (_, at) =>
      put(`core/pods/p${at}`, ''),
    );
    const header = encodeCommand(txn(operations));
    const single = encodeCommand(txn([put('core/pods/last', '')]));
    // The operations of a commit follow its header and their count.
    const bytes = Buffer.concat([header, single.subarray(24)]);
    bytes.writeUInt16BE(operationsMax + 1, 22);
    expect(machine.apply(2, bytes)).toMatchObject({ result: undefined, events: [] });
    expect(machine.revision).toBe(0);
  });

  it('skips entries of the log itself', () => {
    const machine = registeredMachine();
    expect(machine.apply(2, Buffer.alloc(0))).toBeUndefined();
    expect(machine.appliedIndex).toBe(2);
  });

  it('never applies a command older than the window', () => {
    const machine = registeredMachine();
    apply(machine, txn([put(keyA, 'new')], sequenceWindow + 10));
    expect(apply(machine, txn([put(keyA, 'old')], 10))).toBeUndefined();
    expect(apply(machine, txn([put(keyA, 'late')], 11))).toBeDefined();
    expect(apply(machine, txn([put(keyA, 'late')], 11))).toBeUndefined();
  });

  it('registers a bounded number of proposers and evicts the one silent longest for good', () => {
    const machine = registeredMachine();
    const others = Array.from({ length: proposersMax - 1 }, (_, at) => register(machine, at + 1));
    apply(machine, txn([put(keyA, 'one')]));
    const { proposer, evicted } = register(machine, 100)!;
    expect(evicted).toBe(others[0]?.proposer);
    expect(machine.proposers.size).toBe(proposersMax);
    expect(apply(machine, txn([put(keyA, 'two')], 1, evicted))?.result).toBeUndefined();
    expect(apply(machine, txn([put(keyA, 'two')], 1, proposer))?.result?.revision).toBe(2);
    // The same registration once more: nothing new as long as it is known, a new id afterwards.
    expect(register(machine, 100)).toEqual({ proposer, evicted: undefined });
    expect(register(machine, 1)?.proposer).not.toBe(evicted);
  });

  it('has a checksum over its proposers that a restored table must match', () => {
    const machine = registeredMachine();
    const stored = new Map<string, Buffer>();
    const take = () => {
      for (const [proposer, window] of machine.proposers.takeChanges()) {
        if (window) stored.set(proposer, window);
        else stored.delete(proposer);
      }
    };
    for (let at = 0; at < proposersMax + 3; at += 1) {
      const { proposer } = register(machine, at + 1)!;
      apply(machine, txn([put(keyA, `${at}`)], 1, proposer));
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

  it('never decreases its time and expires keys by it', () => {
    const machine = registeredMachine();
    const brief: Operation = { kind: 'put', key: keyA, ...object('brief'), timeToLiveMs: 100 };
    apply(machine, txn([brief]));
    const expire = (timeMs: number): Command => ({
      kind: 'expire',
      id: { proposer: proposerId, sequence: next() },
      timeMs,
    });
    expect(apply(machine, expire(5_099))?.events).toEqual([]);
    expect(apply(machine, expire(1))?.events).toEqual([]);
    expect(apply(machine, expire(5_100))?.events.map(({ entry }) => show(entry))).toEqual([
      `${keyA}@1/2 {"rv":"2","text":"brief"}`,
    ]);
    expect(machine.expiry.nextMs).toBeUndefined();
  });

  it('removes a time to live that a later version lacks', () => {
    const machine = registeredMachine();
    apply(machine, txn([{ kind: 'put', key: keyA, ...object('brief'), timeToLiveMs: 100 }]));
    apply(machine, txn([put(keyA, 'lasting')]));
    expect(machine.expiry.nextMs).toBeUndefined();
  });

  it('has one hash for one log, and another for another', () => {
    const key = fc.constantFrom(keyA, 'core/pods/ns/b', 'core/pods/ns/c');
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
        apply(other, txn([put(keyA, 'one more')], commands.length + 1));
        expect(left.facts).toEqual(right.facts);
        expect(other.hash).not.toBe(left.hash);
      }),
      { numRuns: 50 },
    );
  });

  it('drops exactly the versions that no read may request any more', () => {
    const machine = registeredMachine();
    const { keys } = machine;
    apply(machine, txn([put(keyA, 'one')]));
    apply(machine, txn([put(keyA, 'two')]));
    apply(machine, txn([{ kind: 'delete', key: keyA }]));
    apply(machine, txn([put(keyA, 'four')]));
    expect(keys.historyBytes).toBeGreaterThan(0);
    expect(keys.sweep(1, 10)).toEqual([]);
    expect(keys.sweep(2, 10).map(({ revision }) => revision)).toEqual([1]);
    expect(keys.at(keyA, 2)).toMatchObject({ revision: 2 });
    expect(keys.sweep(3, 10).map(({ revision }) => revision)).toEqual([2, 3]);
    expect(keys.at(keyA, 3)).toBeUndefined();
    expect(keys.historyBytes).toBe(0);
    expect(keys.at(keyA, 4)).toMatchObject({ revision: 4 });
  });
});
