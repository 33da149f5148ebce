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

const nodeSize = 64;

export type OrderedMap<Key, Value> = BTree<Key, Value>;

export function orderedMap<Key extends string | number, Value>(): OrderedMap<Key, Value> {
  return new Tree<Key, Value>(undefined, compare, nodeSize);
}

function compare(left: string | number, right: string | number): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A node of the tree. Inner nodes have each child's greatest key and the sum of sizes. */
interface TreeNode<Key> {
  readonly keys: readonly Key[];
  readonly children?: readonly TreeNode<Key>[];
  size(): number;
}

/**
 * Counts the keys less than `key` in logarithmic time; the package itself counts by iteration.
 * Reads the nodes of the tree, whose shape depends on the pinned version of the package.
 */
export function countBelow<Key extends string | number, Value>(
  map: OrderedMap<Key, Value>,
  key: Key,
): number {
  let node = (map as unknown as { readonly _root: TreeNode<Key> })._root;
  let count = 0;
  while (node.children) {
    const at = firstNotBelow(node.keys, key);
    for (let before = 0; before < at; before += 1) count += node.children[before]!.size();
    const child = node.children[at];
    if (!child) return count;
    node = child;
  }
  return count + firstNotBelow(node.keys, key);
}

function firstNotBelow<Key extends string | number>(keys: readonly Key[], key: Key): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the least string after all strings with this prefix; undefined if there is none. */
export function prefixEnd(prefix: string): string | undefined {
  for (let length = prefix.length; length > 0; length -= 1) {
    const unit = prefix.charCodeAt(length - 1);
    if (unit < 0xffff) return prefix.slice(0, length - 1) + String.fromCharCode(unit + 1);
  }
  return undefined;
}
