/** Follows docs/adding-an-authenticator.md in a copy of the repository. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PageTree } from './support/page-tree.js';

const stepTimeoutMs = 600_000;
let tree: PageTree;

beforeAll(() => {
  tree = PageTree.create('docs/adding-an-authenticator.md');
}, stepTimeoutMs);

afterAll(() => tree.remove());

it('shows one authenticator, its spec and two lines of the list', () => {
  expect(tree.files.map(({ path }) => path)).toEqual([
    'libs/security/src/authentication/api-keys.ts',
    'libs/security/src/authentication/api-keys.spec.ts',
  ]);
  expect(tree.changedPaths).toEqual(['libs/security/src/authentication/authenticators.ts']);
  expect(tree.diffs[0]?.lines).toHaveLength(2);
});

it('has the right types', () => tree.checkTypes(), stepTimeoutMs);

it(
  'passes the spec of the page and that of the union',
  () => {
    const { ranPaths, failures } = tree.runSpecs(
      'libs/security/src/authentication/api-keys',
      'libs/security/src/authentication/authenticator.spec',
    );
    expect(failures).toEqual([]);
    expect(ranPaths.some((path) => path.endsWith('api-keys.spec.ts'))).toBe(true);
  },
  stepTimeoutMs,
);
