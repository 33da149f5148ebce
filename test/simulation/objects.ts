/** The objects of simulated clients: keys few enough to collide, contents that name themselves. */
import type { Entry, Operation } from '@orch/store';
import type { Expectation, Version, WriteOperation } from '../history/history.js';
import type { Random } from './random.js';

const prefixOfContent = '{"rv":"","v":"';
const revisionOffset = prefixOfContent.indexOf('","v"');
/** Keys that end by themselves. */
export const expiringPrefix = 'core/events/';
const timeToLiveMs = 5_000;

export const listPrefixes = ['core/pods/', 'core/pods/one/', 'core/', '', expiringPrefix] as const;

export function drawKey(random: Random): string {
  if (random.chance(0.35)) return `core/pods/one/hot-${random.integer(3)}`;
  if (random.chance(0.1)) return `${expiringPrefix}one/e-${random.integer(6)}`;
  const namespace = random.pick(['one', 'two']);
  return `core/pods/${namespace}/p-${random.integer(24)}`;
}

export function storeOperation(operation: WriteOperation, padding: number): Operation {
  const { key, expect } = operation;
  const condition = expect === undefined ? {} : { expect: storeExpectation(expect) };
  if (operation.kind === 'delete') return { kind: 'delete', key, ...condition };
  return {
    kind: 'put',
    key,
    bytes: Buffer.from(`${prefixOfContent}${operation.value}","pad":"${'x'.repeat(padding)}"}`),
    revisionOffset,
    ...(key.startsWith(expiringPrefix) && { timeToLiveMs }),
    ...condition,
  };
}

function storeExpectation(expect: Expectation) {
  return expect === 'absent'
    ? ({ kind: 'absent' } as const)
    : ({ kind: 'revision', revision: expect as Entry['revision'] } as const);
}

/** Throws when the stored bytes are not the object with its revision in it: a wrong splice. */
export function contentOf(entry: Entry): string {
  const text = entry.bytes.toString();
  const match = /^\{"rv":"(\d+)","v":"([^"]+)","pad":"x*"\}$/.exec(text);
  if (!match || Number(match[1]) !== entry.revision) {
    throw new Error(`broken object at ${entry.revision}: ${text.slice(0, 80)}`);
  }
  return match[2]!;
}

export function versionOf(entry: Entry): Version {
  return { key: entry.key, value: contentOf(entry), revision: entry.revision };
}
