/** Rules of the house that no linter knows: brand identifiers in one table, one file a kind. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

function sourceFiles(folder: string, extensions: readonly string[]): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(
      (file) => file.isFile() && extensions.some((extension) => file.name.endsWith(extension)),
    )
    .map((file) => join(file.parentPath, file.name));
}

/** Identifiers of the interface in either brand, as they would stand in a literal. */
const branded = [
  /(?<![@\w])(?:[\w-]+\.)*(?:orch|k8s|kubernetes)\.io\b/,
  /\b(?:orch|kube)-(?:system|public|node-lease|root-ca\.crt|api-access)\b/,
  /\bvnd\.(?:orch|kubernetes)\./,
  /\bsystem:(?:orch|kube)-/,
  /\bx-(?:orch|kubernetes)-/,
];

describe('brand identifiers', () => {
  const table = 'libs/component/src/dialect/';
  const files = ['apps', 'libs', 'proto']
    .flatMap((folder) => sourceFiles(folder, ['.ts', '.mjs', '.proto']))
    .map((file) => relative(root, file))
    .filter((file) => !file.startsWith(table) && !file.endsWith('.spec.ts'));

  it('stand in the dialect table only', () => {
    const found: string[] = [];
    for (const file of files) {
      const lines = readFileSync(join(root, file), 'utf8').split('\n');
      lines.forEach((line, i) => {
        if (branded.some((pattern) => pattern.test(line))) {
          found.push(`${file}:${i + 1}: ${line.trim()}`);
        }
      });
    }
    expect(found).toEqual([]);
  });

  it('are found where they do stand', () => {
    const text = readFileSync(join(root, table, 'dialect.ts'), 'utf8');
    expect(branded.some((pattern) => pattern.test(text))).toBe(true);
  });
});

describe('kinds', () => {
  const definitionFiles = sourceFiles('libs/api/src', ['.ts'])
    .filter((file) => !file.endsWith('.spec.ts'))
    .map((file) => ({ file: relative(root, file), text: readFileSync(file, 'utf8') }))
    .map(({ file, text }) => ({
      file,
      kinds: [...text.matchAll(/^export const \w+ = define(?:<\w+>)?\(/gm)].length,
    }))
    .filter(({ kinds }) => kinds > 0);

  it('have one file each', () => {
    expect(definitionFiles.length).toBeGreaterThanOrEqual(12);
    expect(definitionFiles.filter(({ kinds }) => kinds !== 1)).toEqual([]);
  });
});
