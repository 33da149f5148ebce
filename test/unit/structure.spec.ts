/**
 * The structure of the code base. `structure-rules.ts` is the table of rules:
 *
 * | rule              | forbids                                                            |
 * | ----------------- | ------------------------------------------------------------------ |
 * | library direction | an import of a library that the importer may not use               |
 * | folder direction  | an import of a folder above its own, in the same library or app    |
 * | import cycle      | files that import each other, also indirectly or as types only     |
 * | pure core         | I/O, clock, timer, randomness, promise or log in code that decides |
 * | file length       | more than 400 lines                                                |
 * | function length   | more than 70 lines, except in tests                                |
 * | comment width     | more than 100 columns; the formatter breaks code                   |
 * | private name      | `#name`; use TypeScript's `private`                                |
 * | constant name     | SCREAMING_CASE                                                     |
 * | bag name          | a constructor parameter type not ending in Dependencies or Options |
 * | brand identifier  | an API identifier with the brand outside the dialect table         |
 * | kind file         | two kinds in one file                                              |
 */
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkStructure } from './structure/check-structure.js';
import { hasBrandIdentifier, kindCounts } from './structure/code-rules.js';
import { unusedLayers } from './structure/import-rules.js';
import { readSourceTree } from './structure/source-tree.js';
import { type RuleName, textOf } from './structure/violation.js';
import { dialectFolder, layersOfSources } from './structure-rules.js';

const tree = readSourceTree(resolve(import.meta.dirname, '../..'));
const violations = checkStructure(tree);

describe('the source tree', () => {
  it('has no violation', () => {
    expect(violations.map(textOf)).toEqual([]);
  });

  it('has a file for every row of the table', () => {
    expect(unusedLayers(tree, layersOfSources)).toEqual([]);
  });

  it('is read completely', () => {
    expect(tree.size).toBeGreaterThan(1500);
    expect(kindCounts(tree).size).toBeGreaterThanOrEqual(12);
    expect(hasBrandIdentifier(tree.get(`${dialectFolder}dialect.ts`)!)).toBe(true);
  });
});

interface Planted {
  readonly rule: RuleName;
  /** The file to add, and the one that its violation is reported for if that is another. */
  readonly path: string;
  readonly text: string;
  readonly key?: string;
}

const plan = 'libs/controllers/src/replicaset/planted-plan.ts';
const core = 'libs/raft/src/core/planted.ts';
const client = 'libs/client/src/rest/planted.ts';

const planted: readonly Planted[] = [
  {
    rule: 'library direction',
    path: client,
    text: "import { openStore } from '@orch/store';\n",
    key: `${client} -> @orch/store`,
  },
  {
    rule: 'library direction',
    path: client,
    text: "export type Store = import('@orch/store').VersionedStore;\n",
    key: `${client} -> @orch/store`,
  },
  {
    rule: 'library direction',
    path: client,
    text: "export * from '../../../component/src/clock.js';\n",
    key: `${client} -> ../../../component/src/clock.js`,
  },
  {
    rule: 'library direction',
    path: 'libs/planted/src/index.ts',
    text: "import { systemClock } from '@orch/component';\n",
    key: 'libs/planted/src/index.ts -> @orch/component',
  },
  {
    rule: 'folder direction',
    path: client,
    text: "import type { Informer } from '../informer/informer.js';\n",
    key: `${client} -> libs/client/src/informer/informer.ts`,
  },
  {
    rule: 'folder direction',
    path: 'libs/client/src/election/planted.ts',
    text: "const { EventRecorder } = await import('../events/event-recorder.js');\n",
    key: 'libs/client/src/election/planted.ts -> libs/client/src/events/event-recorder.ts',
  },
  { rule: 'folder direction', path: 'libs/client/src/planted/planted.ts', text: '' },
  {
    rule: 'folder direction',
    path: 'apps/apiserver/src/context/planted.ts',
    text: "import { openStore } from '../store/open-store.js';\n",
    key: 'apps/apiserver/src/context/planted.ts -> apps/apiserver/src/store/open-store.ts',
  },
  { rule: 'pure core', path: core, text: "import { limits } from '../limits.js';\n" },
  { rule: 'pure core', path: core, text: "import { createHash } from 'node:crypto';\n" },
  { rule: 'pure core', path: plan, text: 'export const now = () => Date.now();\n' },
  { rule: 'pure core', path: plan, text: 'export const drawn = () => Math.random();\n' },
  { rule: 'pure core', path: plan, text: 'export const later = (f) => setTimeout(f, 1);\n' },
  { rule: 'pure core', path: plan, text: "console.info('planned');\n" },
  { rule: 'pure core', path: plan, text: 'export async function plan() {}\n' },
  { rule: 'pure core', path: plan, text: 'export type Plan = Promise<void>;\n' },
  { rule: 'pure core', path: plan, text: "import type { Logger } from '@orch/component';\n" },
  { rule: 'file length', path: client, text: 'export {};\n'.repeat(401) },
  {
    rule: 'function length',
    path: client,
    text: `export function planted() {\n${'  planted();\n'.repeat(69)}}\n`,
  },
  {
    rule: 'function length',
    path: client,
    text: `class Planted {\n  run() {\n${'    this.run();\n'.repeat(69)}  }\n}\n`,
  },
  { rule: 'comment width', path: client, text: `// ${'word '.repeat(20)}\n` },
  { rule: 'private name', path: client, text: 'class Planted {\n  #count = 0;\n}\n' },
  { rule: 'private name', path: client, text: 'class Planted {\n  #count() {}\n}\n' },
  { rule: 'constant name', path: client, text: 'const RETRY_COUNT = 3;\n' },
  { rule: 'constant name', path: client, text: 'class A {\n  static readonly LIMIT = 3;\n}\n' },
  { rule: 'bag name', path: client, text: 'interface LoopSettings {\n  readonly a: 1;\n}\n' },
  {
    rule: 'bag name',
    path: client,
    text: [
      'interface Needs { readonly a: number; readonly b: number }',
      'class Loop { constructor(private readonly needs: Needs) {} }',
    ].join('\n'),
  },
  { rule: 'brand identifier', path: client, text: "const label = 'planted.kubernetes.io/name';\n" },
  { rule: 'brand identifier', path: 'proto/planted.proto', text: '// x-kubernetes-planted\n' },
  {
    rule: 'kind file',
    path: 'libs/api/src/core/planted.ts',
    text: 'export const a = define<A>({});\nexport const b = define({});\n',
  },
];

describe('a planted violation', () => {
  const violationsOf = (files: Readonly<Record<string, string>>) => {
    const found = checkStructure(new Map(Object.entries(files)));
    return found.map(({ rule, key }) => ({ rule, key }));
  };

  it.each(planted)('of "$rule" is found in $text', ({ rule, path, text, key = path }) => {
    expect(violationsOf({ [path]: text })).toContainEqual({ rule, key });
  });

  it('of "import cycle" is found when only a type closes the cycle', () => {
    const found = violationsOf({
      'libs/client/src/rest/a.ts': "import { b } from './b.js';\nexport const a = b;\n",
      'libs/client/src/rest/b.ts': "export { c } from './c.js';\n",
      'libs/client/src/rest/c.ts': "import type { a } from './a.js';\nexport const c = 1;\n",
    });
    expect(found.filter(({ rule }) => rule === 'import cycle')).toHaveLength(3);
  });

  it('is not found in code that keeps the rules', () => {
    expect(
      violationsOf({
        [client]: [
          "import { StatusError } from '@orch/apimachinery';",
          "import type { Pod } from '@orch/types/core/v1';",
          "import { limits } from '../limits.js';",
          'export interface LoopOptions { readonly a: number; readonly b: number }',
          'export class Loop { constructor(private readonly options: LoopOptions) {} }',
          'export const retryCount = 3;',
        ].join('\n'),
        'libs/client/src/limits.ts': 'export const limits = {};\n',
        [core]: 'export function isNewer(a: Date, b: Date) { return a > b; }\nclass Date {}\n',
      }),
    ).toEqual([]);
  });
});
