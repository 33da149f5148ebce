/**
 * Follows docs/adding-a-kind.md in a copy of the repository: writes the files that the page shows,
 * and no others, generates, checks types, and runs the page's own spec and that of a server with
 * the kind.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PageTree } from './support/page-tree.js';

const stepTimeoutMs = 600_000;
let tree: PageTree;

beforeAll(() => {
  tree = PageTree.create('docs/adding-a-kind.md');
  tree.copy('test/adding-a-kind/backup-served.ts', 'test/unit/backup-served.spec.ts');
  tree.run('scripts/generate.mjs');
}, stepTimeoutMs);

afterAll(() => tree.remove());

it('shows one message, one definition, one line of the list, an example and a spec', () => {
  expect(tree.files.map(({ path }) => path)).toEqual([
    'proto/orch/api/archive/v1.proto',
    'libs/api/src/archive/backup.ts',
    'examples/api/backups.yaml',
    'libs/api/src/archive/backup.spec.ts',
  ]);
  expect(tree.changedPaths).toEqual(['libs/api/src/definitions.ts']);
  expect(tree.diffs[0]?.lines).toHaveLength(2);
});

it('has the right types', () => tree.checkTypes(), stepTimeoutMs);

it(
  'is a kind like every other, in its specs and on a server',
  () => {
    const { ranPaths, failures } = tree.runSpecs(
      ...['libs/api/src/archive', 'libs/api/src/facts.spec.ts', 'scripts/reference'],
      'test/unit/backup-served.spec.ts',
    );
    expect(failures).toEqual([]);
    expect(ranPaths.some((path) => path.endsWith('backup-served.spec.ts'))).toBe(true);
  },
  stepTimeoutMs,
);

it('has a page in the reference', () => {
  const text = tree.read('docs/api/archive/backup.md');
  expect(text).toContain('Periodic copies of a claim.');
  expect(text).toMatch(/`claimName` .* Cannot be changed\./);
  expect(text).toMatch(/`medium` .* One of `Disk`, `Tape`\./);
});
