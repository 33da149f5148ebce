/** Follows docs/adding-an-admission-plugin.md in a copy of the repository. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PageTree } from './support/page-tree.js';

const stepTimeoutMs = 600_000;
let tree: PageTree;

beforeAll(() => {
  tree = PageTree.create('docs/adding-an-admission-plugin.md');
}, stepTimeoutMs);

afterAll(() => tree.remove());

it('shows one plugin, its spec and two lines of the list', () => {
  expect(tree.files.map(({ path }) => path)).toEqual([
    'libs/admission/src/plugins/memory-limits.ts',
    'libs/admission/src/plugins/memory-limits.spec.ts',
  ]);
  expect(tree.changedPaths).toEqual(['libs/admission/src/plugins.ts']);
  expect(tree.diffs[0]?.lines).toHaveLength(2);
});

it('has the right types', () => tree.checkTypes(), stepTimeoutMs);

it(
  'passes the spec of the page and that of the list',
  () => {
    const { ranPaths, failures } = tree.runSpecs(
      'libs/admission/src/plugins/memory-limits',
      'libs/admission/src/plugin-selection',
    );
    expect(failures).toEqual([]);
    expect(ranPaths.some((path) => path.endsWith('memory-limits.spec.ts'))).toBe(true);
  },
  stepTimeoutMs,
);
