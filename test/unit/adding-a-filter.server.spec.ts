/** Follows docs/adding-a-filter.md in a copy of the repository. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PageTree } from './support/page-tree.js';

const stepTimeoutMs = 600_000;
let tree: PageTree;

beforeAll(() => {
  tree = PageTree.create('docs/adding-a-filter.md');
}, stepTimeoutMs);

afterAll(() => tree.remove());

it('shows one filter, its spec and two lines of the list', () => {
  expect(tree.files.map(({ path }) => path)).toEqual([
    'libs/apiserver/src/filters/request-id.ts',
    'libs/apiserver/src/filters/request-id.spec.ts',
  ]);
  expect(tree.changedPaths).toEqual(['libs/apiserver/src/filters/request-filters.ts']);
  expect(tree.diffs[0]?.lines).toHaveLength(2);
});

it('has the right types', () => tree.checkTypes(), stepTimeoutMs);

it(
  'passes the spec of the page',
  () => {
    const { ranPaths, failures } = tree.runSpecs('libs/apiserver/src/filters');
    expect(failures).toEqual([]);
    expect(ranPaths.some((path) => path.endsWith('request-id.spec.ts'))).toBe(true);
  },
  stepTimeoutMs,
);
