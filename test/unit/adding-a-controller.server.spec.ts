/**
 * Follows docs/adding-a-controller.md in a copy of the repository: writes the files that the page
 * shows, and no others, checks types and structure, and runs the spec of the page.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PageTree } from './support/page-tree.js';

const stepTimeoutMs = 600_000;
const folder = 'libs/controllers/src/configmapexpiry';
let tree: PageTree;

beforeAll(() => {
  tree = PageTree.create('docs/adding-a-controller.md');
}, stepTimeoutMs);

afterAll(() => tree.remove());

it('adds three files and changes only the registry', () => {
  expect(tree.files.map(({ path }) => path)).toEqual([
    `${folder}/expiry.ts`,
    `${folder}/config-map-expiry-controller.ts`,
    `${folder}/config-map-expiry-controller.spec.ts`,
  ]);
  expect(tree.changedPaths).toEqual(['libs/controllers/src/manager/registry.ts']);
  expect(tree.diffs.flatMap(({ lines }) => lines)).toHaveLength(2);
});

it('has the right types', () => tree.checkTypes(), stepTimeoutMs);

it(
  'runs in the controller manager as its spec says',
  () => {
    const { ranPaths, failures } = tree.runSpecs(folder);
    expect(failures).toEqual([]);
    expect(ranPaths).toHaveLength(1);
  },
  stepTimeoutMs,
);
