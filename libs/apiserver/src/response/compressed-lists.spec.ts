import { gunzipSync } from 'node:zlib';
import type { ListRequest, ListResponse, ServedResource } from '@orch/registry';
import type { Entry } from '@orch/store';
import { describe, expect, it } from 'vitest';
import { compressionsInFlightMax } from '../limits.js';
import { plainJson } from '../request/accept.js';
import { CompressedLists, type ListToSend } from './compressed-lists.js';
import { compressAfterHead, type Gathered } from './gather.js';
import { gzipParts } from './gzip-parts.js';

const request: ListRequest = {
  labelSelector: '',
  fieldSelector: '',
  consistency: { kind: 'any' },
  limit: 0,
  continueFrom: undefined,
  timeoutSeconds: 0,
};
const view = { representation: plainJson, include: 'Metadata', nowMs: 0 } as const;
const served = {} as ServedResource;

/** Objects by name, each with its revision. */
type Objects = Readonly<Record<string, number>>;

function listOf(revision: number, objects: Objects, changes: Partial<ListToSend> = {}): ListToSend {
  const entries = Object.values(objects).map((at) => ({ revision: at }) as Entry);
  const list = { entries, revision, continueToken: '' } as unknown as ListResponse;
  return { served, list, request, namespace: 'n', view, ...changes };
}

function gatheredOf(revision: number, objects: Objects): Gathered {
  const items = Object.entries(objects).map(([name, at]) => Buffer.from(`${name}@${at};`));
  const head = Buffer.from(`${revision}:`);
  return {
    ...{ head, tail: Buffer.from('end'), itemCount: items.length, itemFrom: 0 },
    ...{ itemHeadBytesMax: 0, writeItemHead: (_index: number, _block: Buffer, at: number) => at },
    item: (index) => items[index]!,
    totalBytes: 1,
    isTimeless: true,
  };
}

/** Counts compressions; `read` returns what a client gets. */
class Lists {
  count = 0;
  readonly lists = new CompressedLists((gathered) => {
    this.count += 1;
    return compressAfterHead(gathered);
  });

  async read(revision: number, objects: Objects, changes?: Partial<ListToSend>): Promise<string> {
    const gathered = gatheredOf(revision, objects);
    const rest = await this.lists.finderFor(listOf(revision, objects, changes))?.(gathered);
    return rest ? gunzipSync(Buffer.concat(gzipParts(gathered.head, rest))).toString() : 'streamed';
  }
}

describe('compressed lists', () => {
  it('compress objects once while only others are written, each with its own revision', async () => {
    const lists = new Lists();
    expect(await lists.read(7, { a: 3, b: 5 })).toBe('7:a@3;b@5;end');
    expect(await lists.read(9, { a: 3, b: 5 })).toBe('9:a@3;b@5;end');
    expect(lists.count).toBe(1);
  });

  it.each<[string, Objects, Partial<ListToSend>]>([
    ['an object was updated', { a: 3, b: 8 }, {}],
    ['an object was deleted', { b: 5 }, {}],
    ['an object was created', { a: 3, b: 5, c: 8 }, {}],
    ['an object was replaced by another', { a: 3, c: 8 }, {}],
    ['the namespace differs', { a: 3, c: 5 }, { namespace: 'm' }],
    ['the selector differs', { a: 3, c: 5 }, { request: { ...request, labelSelector: 'x' } }],
    ['the field selector differs', { a: 3, c: 5 }, { request: { ...request, fieldSelector: 'x' } }],
    ['the definition has changed', { a: 3, c: 5 }, { served: {} as ServedResource }],
    [
      'the format differs',
      { a: 3, c: 5 },
      { view: { ...view, representation: { ...plainJson, format: 'protobuf' } } },
    ],
  ])('are current when %s', async (_, objects, changes) => {
    const lists = new Lists();
    await lists.read(7, { a: 3, b: 5 });
    const items = Object.entries(objects).map(([name, at]) => `${name}@${at};`);
    expect(await lists.read(9, objects, changes)).toBe(`9:${items.join('')}end`);
    expect(lists.count).toBe(2);
  });

  it('share a compression that is in progress, and limit their number', async () => {
    const lists = new Lists();
    const same = [lists.read(7, { a: 3 }), lists.read(7, { a: 3 })];
    const others = Array.from({ length: compressionsInFlightMax }, (_, index) =>
      lists.read(7, { a: 3 }, { namespace: `n${index}` }),
    );
    expect(await Promise.all(same)).toEqual(['7:a@3;end', '7:a@3;end']);
    expect((await Promise.all(others)).at(-1)).toBe('streamed');
    expect(lists.count).toBe(compressionsInFlightMax);
  });

  it('contain no page of a list', async () => {
    const lists = new Lists();
    const page = { request: { ...request, limit: 2 } };
    expect(await lists.read(7, { a: 3, b: 5 }, page)).toBe('streamed');
  });
});
