/** The objects of simulated clients: keys few enough to collide, contents that name themselves. */
import type { Entry, Operation } from '@orch/store';
import type { Expectation, Version, WriteOperation } from '../history/history.js';
import type { Random } from './random.js';

/** Bytes of the largest object. */
export const paddingMax = 300_000;
const padding = Buffer.alloc(paddingMax, 'x');
const headMax = 128;
const suffixOfContent = '"}';
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

export function storeOperation(operation: WriteOperation, padBytes: number): Operation {
  const { key, expect } = operation;
  const condition = expect === undefined ? {} : { expect: storeExpectation(expect) };
  if (operation.kind === 'delete') return { kind: 'delete', key, ...condition };
  return {
    kind: 'put',
    key,
    bytes: Buffer.from(`${prefixOfContent}${operation.value}","pad":"${'x'.repeat(padBytes)}"}`),
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
export function contentOf({ bytes, revision }: Entry): string {
  const match = /^\{"rv":"(\d+)","v":"([^"]+)","pad":"/.exec(bytes.toString('latin1', 0, headMax));
  const padAt = match?.[0].length ?? 0;
  const end = bytes.length - suffixOfContent.length;
  const isWhole =
    match !== null &&
    Number(match[1]) === revision &&
    bytes.compare(padding, 0, end - padAt, padAt, end) === 0 &&
    bytes.toString('latin1', end) === suffixOfContent;
  if (!isWhole) throw new Error(`broken object at ${revision}: ${bytes.toString('latin1', 0, 80)}`);
  return match[2]!;
}

export function versionOf(entry: Entry): Version {
  return { key: entry.key, value: contentOf(entry), revision: entry.revision };
}
