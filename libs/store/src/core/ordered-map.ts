/**
 * The ordered map of the index: a B-tree whose clones cost microseconds (copy on write), ordered by
 * UTF-16 code unit. Loaded through `require`, because the package's default export differs
 * between native modules and bundlers.
 */
import { createRequire } from 'node:module';
import type BTree from 'sorted-btree';

const { default: Tree } = createRequire(import.meta.url)(
  'sorted-btree',
) as typeof import('sorted-btree');

const NODE_SIZE = 64;

export type OrderedMap<Key, Value> = BTree<Key, Value>;

export function orderedMap<Key extends string | number, Value>(): OrderedMap<Key, Value> {
  return new Tree<Key, Value>(undefined, compare, NODE_SIZE);
}

function compare(left: string | number, right: string | number): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The least string that is greater than every string with this prefix; undefined: there is none. */
export function prefixEnd(prefix: string): string | undefined {
  for (let length = prefix.length; length > 0; length -= 1) {
    const unit = prefix.charCodeAt(length - 1);
    if (unit < 0xffff) return prefix.slice(0, length - 1) + String.fromCharCode(unit + 1);
  }
  return undefined;
}
