/**
 * Follows docs/adding-a-kind.md in a copy of the repository: writes the files that the page shows, and no
 * others, generates, checks types, and runs the page's own spec and that of a server with the kind.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const copied = [
  ...['apps', 'libs', 'proto', 'scripts', 'examples', 'docs'],
  ...[
    'test/conformance/facts',
    'test/conformance/metric-facts.ts',
    'package.json',
    'tsconfig.json',
    'vitest.config.ts',
    '.swcrc',
  ],
];
const page = readFileSync(join(root, 'docs/adding-a-kind.md'), 'utf8');
/** Where it is a spec that runs. */
const servedSpec = 'test/unit/backup-served.spec.ts';
const stepTimeoutMs = 180_000;

/** The blocks of code that stand below the name of a file. */
const files = [...page.matchAll(/^`([^`]+)`:\n\n```\w+\n(.*?)^```$/gms)].map(([, path, text]) => ({
  path: path!,
  text: text!,
}));
const added = [.../^```diff\n(.*?)^```$/ms.exec(page)![1]!.matchAll(/^\+(.*)$/gm)].map(
  ([, line]) => line!,
);

let directory: string;

function run(...args: readonly string[]): string {
  const [script, ...rest] = args;
  const { status, stdout, stderr, error } = spawnSync(
    process.execPath,
    [join(directory, script!), ...rest],
    { cwd: directory, encoding: 'utf8', timeout: stepTimeoutMs },
  );
  if (error) throw error;
  if (status !== 0) throw new Error(`${args.join(' ')}: exit code ${status}\n${stdout}${stderr}`);
  return stdout;
}

function list(path: string, [importLine, entry]: readonly string[]): void {
  const text = readFileSync(path, 'utf8');
  const at = text.indexOf('import ');
  const end = text.lastIndexOf('];');
  writeFileSync(
    path,
    `${text.slice(0, at)}${importLine}\n${text.slice(at, end)}${entry}\n${text.slice(end)}`,
  );
}

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-adding-a-kind-'));
  for (const path of copied) cpSync(join(root, path), join(directory, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  for (const { path, text } of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  mkdirSync(join(directory, 'test/unit'));
  cpSync(join(root, 'test/adding-a-kind/backup-served.ts'), join(directory, servedSpec));
  list(join(directory, 'libs/api/src/definitions.ts'), added);
  run('scripts/generate.mjs');
}, stepTimeoutMs);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('shows one message, one definition, one line of the list, an example and a spec', () => {
  expect(files.map(({ path }) => path)).toEqual([
    'proto/orch/api/archive/v1.proto',
    'libs/api/src/archive/backup.ts',
    'examples/api/backups.yaml',
    'libs/api/src/archive/backup.spec.ts',
  ]);
  expect(added).toHaveLength(2);
});

it('has the right types', () => {
  run('node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json');
}, 180_000);

it('is a kind like every other, in its specs and on a server', () => {
  const report = join(directory, 'report.json');
  const specs = [
    ...['libs/api/src/archive', 'libs/api/src/facts.spec.ts', 'scripts/reference'],
    ...[servedSpec],
  ];
  const options = ['--reporter=json', `--outputFile=${report}`, '--maxWorkers=1'];
  try {
    run('node_modules/vitest/vitest.mjs', 'run', ...specs, ...options);
  } finally {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
    const failures = testResults.flatMap(({ name, message, assertionResults }) => [
      ...(message ? [`${name}: ${message}`] : []),
      ...assertionResults
        .filter(({ status }) => status !== 'passed')
        .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join('\n')}`),
    ]);
    expect(failures).toEqual([]);
    const names = testResults.map(({ name }) => name);
    expect(names.some((name) => name.endsWith('backup-served.spec.ts'))).toBe(true);
  }
}, 180_000);

it('has a page in the reference', () => {
  const text = readFileSync(join(directory, 'docs/api/archive/backup.md'), 'utf8');
  expect(text).toContain('Copies of a claim, made again and again.');
  expect(text).toMatch(/`claimName` .* Cannot be changed\./);
  expect(text).toMatch(/`medium` .* One of `Disk`, `Tape`\./);
});

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}
