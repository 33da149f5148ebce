/**
 * A copy of the repository in which the steps of documentation pages are followed: their code
 * blocks become files, their diffs become lines of existing files, and their promises are checked
 * there.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type PageDiff, parsePage } from './page.js';

const root = resolve(import.meta.dirname, '../../..');
/** Everything that generating, checking types and running specs need. */
const copiedPaths = [
  ...['apps', 'libs', 'proto', 'scripts', 'examples', 'docs'],
  ...['test/conformance/facts', 'test/conformance/metric-facts.ts'],
  ...['package.json', 'tsconfig.json', 'vitest.config.ts', '.swcrc'],
];
const commandTimeoutMs = 600_000;

/** The changes that a page shows. */
export interface FollowedPage {
  /** Paths of the new files, in the order of the page. */
  readonly newPaths: string[];
  /** Paths of the existing files that get lines: the price of an addition. */
  readonly changedPaths: string[];
  /** Number of lines that existing files get. */
  readonly lineCount: number;
}

export class PageTree {
  private constructor(
    /** Root of the copy. */
    readonly directory: string,
  ) {}

  /** Copies the repository. */
  static create(): PageTree {
    const directory = mkdtempSync(join(tmpdir(), 'orch-page-'));
    for (const path of copiedPaths.filter((path) => existsSync(join(root, path)))) {
      cpSync(join(root, path), join(directory, path), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    return new PageTree(directory);
  }

  /** Applies the page at `pagePath`, such as `docs/adding-a-kind.md`. */
  follow(pagePath: string): FollowedPage {
    const { files, diffs } = parsePage(readFileSync(join(root, pagePath), 'utf8'));
    for (const { path, text } of files) this.write(path, text);
    for (const diff of diffs) this.apply(diff);
    return {
      newPaths: files.map(({ path }) => path),
      changedPaths: [...new Set(diffs.map(({ path }) => path))],
      lineCount: diffs.flatMap(({ lines }) => lines).length,
    };
  }

  /** Copies a file of the repository to another path of the tree. */
  copy(from: string, to: string): void {
    this.write(to, readFileSync(join(root, from), 'utf8'));
  }

  read(path: string): string {
    return readFileSync(join(this.directory, path), 'utf8');
  }

  /**
   * Runs a script of the tree with Node.js. @returns its output; throws with it unless it succeeds.
   */
  run(script: string, ...args: readonly string[]): string {
    const { status, stdout, stderr, error } = spawnSync(
      process.execPath,
      [join(this.directory, script), ...args],
      { cwd: this.directory, encoding: 'utf8', timeout: commandTimeoutMs },
    );
    if (error) throw error;
    if (status !== 0) {
      const command = [script, ...args].join(' ');
      throw new Error(`${command}: exit code ${status}\n${stdout}${stderr}`);
    }
    return stdout;
  }

  checkTypes(): void {
    this.run('node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json');
  }

  /** Runs specs of the tree. @returns paths of the ones that ran, and the text of each failure. */
  runSpecs(...specs: readonly string[]): { ranPaths: string[]; failures: string[] } {
    const report = join(this.directory, 'report.json');
    const options = ['--reporter=json', `--outputFile=${report}`, '--maxWorkers=1'];
    let failedRun: unknown;
    try {
      this.run('node_modules/vitest/vitest.mjs', 'run', ...specs, ...options);
    } catch (error) {
      if (!existsSync(report)) throw error;
      failedRun = error;
    }
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
    const failures = testResults.flatMap(failuresOf);
    if (failedRun && failures.length === 0) throw failedRun;
    return { ranPaths: testResults.map(({ name }) => name), failures };
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  private write(path: string, text: string): void {
    const target = join(this.directory, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }

  /** Import lines go before the first import, entries before the end of the file's last list. */
  private apply({ path, lines }: PageDiff): void {
    const text = this.read(path);
    const imports = lines.filter((line) => line.startsWith('import '));
    const entries = lines.filter((line) => !line.startsWith('import '));
    const importAt = text.indexOf('import ');
    const listEnd = Math.max(text.lastIndexOf('\n];'), text.lastIndexOf('\n};')) + 1;
    if (importAt < 0 || listEnd === 0) throw new Error(`${path} has no imports or no list`);
    const block = (added: readonly string[]) => added.map((line) => `${line}\n`).join('');
    this.write(
      path,
      text.slice(0, importAt) +
        block(imports) +
        text.slice(importAt, listEnd) +
        block(entries) +
        text.slice(listEnd),
    );
  }
}

interface TestResult {
  readonly name: string;
  readonly message: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly fullName: string;
    readonly failureMessages: readonly string[];
  }[];
}

interface Report {
  readonly testResults: readonly TestResult[];
}

function failuresOf({ name, message, assertionResults }: TestResult): string[] {
  const failed = assertionResults.filter(({ status }) => status !== 'passed');
  return [
    ...(message ? [`${name}: ${message}`] : []),
    ...failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join('\n')}`),
  ];
}
