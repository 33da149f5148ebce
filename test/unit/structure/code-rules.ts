/** Rules on one file: purity, length, names, and where brand identifiers and kinds are. */
import { dialectFolder, limits, naming, type PureCode } from '../structure-rules.js';
import {
  codePaths,
  factsOf,
  isSpec,
  isTestCode,
  type SourceTree,
  targetOf,
} from './source-tree.js';
import type { RuleName, Violation } from './violation.js';

const impureGlobals = new Set([
  ...['Date', 'Math.random', 'performance', 'crypto', 'process', 'console', 'fetch', 'Promise'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'AbortSignal'],
]);

/** A log, and the system's clock, under the names that `@orch/component` gives them. */
const impureImports = /\bimport\b[^;]*?\b(?:Logger|createLogger|systemClock)\b[^;]*?from/g;

export function checkPurity(tree: SourceTree, pureCode: readonly PureCode[]): Violation[] {
  const rule = 'pure core';
  return pureCode.flatMap(({ files, importsOutside }) =>
    codePaths(tree)
      .filter((path) => files.test(path) && !isTestCode(path))
      .flatMap((path) => {
        const { imports, globals, asynchronous } = factsOf(tree, path);
        const folder = files.exec(path)![0];
        const outside = ({ name }: { name: string }): boolean =>
          name.startsWith('node:') ||
          (!importsOutside && !targetOf(path, name)?.startsWith(folder));
        const forbidden = [
          ...imports
            .filter(outside)
            .map((found) => ({ ...found, name: `import of ${found.name}` })),
          ...globals.filter(({ name }) => impureGlobals.has(name)),
          ...asynchronous,
          ...[...tree.get(path)!.matchAll(impureImports)].map(({ index }) => ({
            name: 'a log or the system clock',
            line: lineAt(tree.get(path)!, index),
          })),
        ];
        return forbidden.map(({ name, line }): Violation => {
          return { rule, key: path, line, advice: `pure code has no ${name}; pass it in` };
        });
      }),
  );
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

export function checkLengths(tree: SourceTree): Violation[] {
  return codePaths(tree).flatMap((key) => {
    const found: Violation[] = [];
    const lines = tree.get(key)!.replace(/\n$/, '').split('\n');
    if (lines.length > limits.fileLineCount) {
      const advice = `${lines.length} lines, at most ${limits.fileLineCount}: split it by concern`;
      found.push({ rule: 'file length', key, line: 1, advice });
    }
    // The formatter breaks code; a longer line holds a literal.
    lines.forEach((text, index) => {
      if (text.length <= limits.columnCount || !/^\s*(?:\/\/|\/?\*)/.test(text)) return;
      if (/https?:\/\/\S{40}|biome-ignore/.test(text)) return;
      const advice = `a comment of ${text.length} columns, at most ${limits.columnCount}`;
      found.push({ rule: 'comment width', key, line: index + 1, advice });
    });
    // The callback of a suite is as long as the suite.
    if (!isTestCode(key)) found.push(...longFunctions(tree, key));
    return found;
  });
}

function longFunctions(tree: SourceTree, key: string): Violation[] {
  const atMost = limits.functionLineCount;
  return factsOf(tree, key)
    .functions.filter(({ lineCount }) => lineCount > atMost)
    .map(({ name, line, lineCount }) => {
      const advice = `${name} has ${lineCount} lines, at most ${atMost}: extract its steps`;
      return { rule: 'function length', key, line, advice };
    });
}

export function checkNames(tree: SourceTree): Violation[] {
  return codePaths(tree).flatMap((key) => {
    const { privateNames, constants, types, bags } = factsOf(tree, key);
    const report = (rule: RuleName, advice: (name: string) => string) => {
      return ({ name, line }: { name: string; line: number }): Violation => {
        return { rule, key, line, advice: advice(name) };
      };
    };
    const ending = 'end its name in Dependencies (collaborators) or Options (settings)';
    return [
      ...privateNames.map(report('private name', (name) => `${name}: use TypeScript's private`)),
      ...constants
        .filter(({ name }) => naming.screamingCase.test(name))
        .map(report('constant name', (name) => `${name}: use camelCase`)),
      ...types
        .filter(({ name }) => naming.bannedEndings.test(name))
        .map(report('bag name', (name) => `${name}: ${ending}`)),
      ...bags
        .filter(({ name }) => !naming.bagEndings.test(name))
        .map(report('bag name', (name) => `${name} is passed to a constructor: ${ending}`)),
    ];
  });
}

/** Identifiers of the interface in either brand, as a literal spells them. */
const brandIdentifiers = [
  /(?<![@\w])(?:[\w-]+\.)*(?:orch|k8s|kubernetes)\.io\b/,
  /\b(?:orch|kube)-(?:system|public|node-lease|root-ca\.crt|api-access)\b/,
  /\bvnd\.(?:orch|kubernetes)\./,
  /\bsystem:(?:orch|kube)-/,
  /\bx-(?:orch|kubernetes)-/,
];

export function hasBrandIdentifier(text: string): boolean {
  return brandIdentifiers.some((pattern) => pattern.test(text));
}

export function checkBrandIdentifiers(tree: SourceTree): Violation[] {
  return [...tree]
    .filter(([path]) => /^(?:apps|libs|proto)\//.test(path) && !isSpec(path))
    .filter(([path]) => !path.startsWith(dialectFolder))
    .flatMap(([key, text]) =>
      text.split('\n').flatMap((line, index): Violation[] => {
        if (!hasBrandIdentifier(line)) return [];
        const advice = `take it from dialect(): ${line.trim()}`;
        return [{ rule: 'brand identifier', key, line: index + 1, advice }];
      }),
    );
}

/** The files that define kinds, with the number of kinds. */
export function kindCounts(tree: SourceTree): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [path, text] of tree) {
    if (!path.startsWith('libs/api/src/') || isSpec(path)) continue;
    const count = [...text.matchAll(/^export const \w+ = define(?:<\w+>)?\(/gm)].length;
    if (count > 0) counts.set(path, count);
  }
  return counts;
}

export function checkKindFiles(tree: SourceTree): Violation[] {
  return [...kindCounts(tree)]
    .filter(([, count]) => count > 1)
    .map(([key, count]) => {
      return { rule: 'kind file', key, line: 1, advice: `defines ${count} kinds: one file a kind` };
    });
}
