import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** More broken files than this are no matter of chance, and would take too long. */
const filesOfSecondAttemptMax = 4;

/**
 * A stage of `npm test` that is a run of Vitest. With `repeats`, the files in which a test failed
 * run a second time, each from a new process: these stages start hundreds of servers in real time,
 * and one that fails by chance must not hide the result of the others. What passes only at the
 * second attempt is counted as passed and listed at the end of `npm test`: its cause is to be
 * found.
 */
export function vitestStage({ root, scratch, name, args, repeats = false }) {
  const command = (report, files = []) => [
    ...['node', 'node_modules/vitest/vitest.mjs', 'run', ...args, ...files],
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${join(scratch, report)}`],
  ];
  const first = `${name}.json`;
  const second = `${name}-again.json`;
  return {
    name,
    command: command(first),
    count: () => countsOf(filesOf(root, join(scratch, first))),
    secondAttempt: repeats && {
      command: () => {
        const failed = failedFilesOf(filesOf(root, join(scratch, first)));
        if (failed.length === 0 || failed.length > filesOfSecondAttemptMax) return undefined;
        return command(second, failed);
      },
      count: () => {
        const files = filesOf(root, join(scratch, first));
        const again = new Map(
          filesOf(root, join(scratch, second)).map((file) => [file.path, file]),
        );
        const counts = countsOf(files.map((file) => again.get(file.path) ?? file));
        const stillFailed = new Set(counts.failures);
        const repeated = countsOf(files).failures.filter((failure) => !stillFailed.has(failure));
        return { ...counts, repeated };
      },
    },
  };
}

/** Returns for each spec file its path, how many tests passed, and the names of the failed ones. */
function filesOf(root, report) {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  return testResults.map(({ name, status, assertionResults }) => {
    const path = relative(root, name);
    const failures = assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => `${path}: ${test.fullName}`);
    // A file that cannot be loaded has no tests.
    if (status === 'failed' && failures.length === 0) failures.push(path);
    const passed = assertionResults.filter((test) => test.status === 'passed').length;
    return { path, passed, failures };
  });
}

function failedFilesOf(files) {
  return files.filter(({ failures }) => failures.length > 0).map(({ path }) => path);
}

function countsOf(files) {
  const failures = files.flatMap((file) => file.failures);
  const passed = files.reduce((sum, file) => sum + file.passed, 0);
  return { passed, failed: failures.length, failures, repeated: [] };
}
