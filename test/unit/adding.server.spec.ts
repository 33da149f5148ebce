/**
 * Follows the pages `docs/adding-*.md` in one copy of the repository: writes the files that they
 * show, and no others, generates, checks types, and runs their specs and that of a server with the
 * new kind.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FollowedPage, PageTree } from './support/page-tree.js';

interface Page {
  readonly newPaths: readonly string[];
  readonly changedPath: string;
  /** Existing specs that cover the addition. */
  readonly specs: readonly string[];
}

const stepTimeoutMs = 600_000;
const expiry = 'libs/controllers/src/configmapexpiry';
const authentication = 'libs/security/src/authentication';
const filters = 'libs/apiserver/src/filters';
const backupServed = 'test/unit/backup-served.spec.ts';

const pages: Readonly<Record<string, Page>> = {
  'adding-a-controller': {
    newPaths: [
      `${expiry}/expiry.ts`,
      `${expiry}/config-map-expiry-controller.ts`,
      `${expiry}/config-map-expiry-controller.spec.ts`,
    ],
    changedPath: 'libs/controllers/src/manager/registry.ts',
    specs: [],
  },
  'adding-a-filter': {
    newPaths: [`${filters}/request-id.ts`, `${filters}/request-id.spec.ts`],
    changedPath: `${filters}/request-filters.ts`,
    specs: [filters],
  },
  'adding-a-kind': {
    newPaths: [
      'proto/orch/api/archive/v1.proto',
      'libs/api/src/archive/backup.ts',
      'examples/api/backups.yaml',
      'libs/api/src/archive/backup.spec.ts',
    ],
    changedPath: 'libs/api/src/definitions.ts',
    specs: ['libs/api/src/facts.spec.ts', 'scripts/reference', backupServed],
  },
  'adding-an-admission-plugin': {
    newPaths: [
      'libs/admission/src/plugins/memory-limits.ts',
      'libs/admission/src/plugins/memory-limits.spec.ts',
    ],
    changedPath: 'libs/admission/src/plugins.ts',
    specs: ['libs/admission/src/plugin-selection'],
  },
  'adding-an-authenticator': {
    newPaths: [`${authentication}/api-keys.ts`, `${authentication}/api-keys.spec.ts`],
    changedPath: `${authentication}/authenticators.ts`,
    specs: [`${authentication}/authenticator.spec`],
  },
};

let tree: PageTree;
const followed = new Map<string, FollowedPage>();

beforeAll(() => {
  tree = PageTree.create();
  for (const name of Object.keys(pages)) followed.set(name, tree.follow(`docs/${name}.md`));
  tree.copy('test/adding-a-kind/backup-served.ts', backupServed);
  tree.run('scripts/generate.mjs');
}, stepTimeoutMs);

afterAll(() => tree.remove());

it('covers every page', () => {
  const written = readdirSync(join(tree.directory, 'docs'));
  const names = Object.keys(pages).map((name) => `${name}.md`);
  expect(written.filter((name) => name.startsWith('adding-')).sort()).toEqual(names);
});

describe.each(Object.entries(pages))('%s', (name, { newPaths, changedPath }) => {
  it('shows these new files and two lines of another', () => {
    const page = followed.get(name);
    expect(page?.newPaths).toEqual(newPaths);
    expect(page?.changedPaths).toEqual([changedPath]);
    expect(page?.lineCount).toBe(2);
  });
});

it('has the right types', () => tree.checkTypes(), stepTimeoutMs);

it(
  'passes the specs of the pages and existing ones that cover the additions',
  () => {
    const isSpec = (path: string) => path.endsWith('.spec.ts');
    const own = Object.values(pages).flatMap(({ newPaths }) => newPaths.filter(isSpec));
    const covering = Object.values(pages).flatMap(({ specs }) => specs);
    const { ranPaths, failures } = tree.runSpecs(...own, ...covering);
    expect(failures).toEqual([]);
    for (const spec of [...own, backupServed]) {
      expect(ranPaths.some((path) => path.endsWith(spec))).toBe(true);
    }
  },
  stepTimeoutMs,
);

it('has a page in the reference', () => {
  const text = tree.read('docs/api/archive/backup.md');
  expect(text).toContain('Periodic copies of a claim.');
  expect(text).toMatch(/`claimName` .* Cannot be changed\./);
  expect(text).toMatch(/`medium` .* One of `Disk`, `Tape`\./);
});
