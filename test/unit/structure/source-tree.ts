/**
 * The source files that the structure rules check, as a map from path to text, so that a test can
 * plant a violation in a copy without touching the disk.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { type SourceFacts, sourceFactsOf } from './source-facts.js';

/** Paths are relative to the repository, with forward slashes. */
export type SourceTree = ReadonlyMap<string, string>;

const sourceFolders = ['apps', 'libs', 'proto', 'scripts', 'test'];
const sourceEnding = /\.(?:ts|mjs|proto)$/;
const skippedFolders =
  /(?:^|\/)(?:node_modules|dist|generated)\/|^test\/conformance\/(?:cases|facts)\//;

export function readSourceTree(root: string): SourceTree {
  const tree = new Map<string, string>();
  for (const folder of sourceFolders) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !sourceEnding.test(entry.name)) continue;
      const path = relative(root, join(entry.parentPath, entry.name));
      if (!skippedFolders.test(path)) tree.set(path, readFileSync(join(root, path), 'utf8'));
    }
  }
  return tree;
}

const factsByText = new Map<string, SourceFacts>();

/** Parses a file once, however many rules and copies of the tree use it. */
export function factsOf(tree: SourceTree, path: string): SourceFacts {
  const text = tree.get(path);
  if (text === undefined) throw new Error(`${path} is not in the source tree`);
  let facts = factsByText.get(text);
  if (!facts) {
    facts = sourceFactsOf(text, path);
    factsByText.set(text, facts);
  }
  return facts;
}

const copiedTools: ReadonlySet<string> = new Set([
  'test/conformance/decisions.mjs',
  'test/conformance/verdicts.mjs',
  'test/conformance/replay.mjs',
  'test/conformance/scheduling.mjs',
  'test/conformance/webhooks.mjs',
]);

/**
 * The TypeScript and JavaScript files of a tree; the tools that replay recordings are copies that
 * another project owns.
 */
export function codePaths(tree: SourceTree): string[] {
  return [...tree.keys()].filter((path) => !path.endsWith('.proto') && !copiedTools.has(path));
}

export function isSpec(path: string): boolean {
  return /\.spec\.ts$/.test(path);
}

/** Specs and the helpers that only specs import. */
export function isTestCode(path: string): boolean {
  return isSpec(path) || /^test\/|\/testing\/|^libs\/[^/]+\/test\//.test(path);
}

/** The file that an import names, or undefined if it names a package. */
export function targetOf(importer: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) {
    return posix.join(posix.dirname(importer), specifier).replace(/\.js$/, '.ts');
  }
  const library = /^@orch\/([^/]+)$/.exec(specifier)?.[1];
  return library === undefined ? undefined : `libs/${library}/src/index.ts`;
}
