import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { nodeEnvironment } from './node-environment.js';

const threadsOf = (cores: number) => nodeEnvironment({}, cores).NODE_OPTIONS;

it('has a thread of the engine less than cores, at least one and at most four', () => {
  expect([1, 2, 3, 5, 64].map(threadsOf)).toEqual(
    [1, 1, 2, 4, 4].map((threads) => `--v8-pool-size=${threads}`),
  );
});

it("keeps the user's settings, which take precedence", () => {
  const own = {
    GLIBC_TUNABLES: 'glibc.malloc.hugetlb=0',
    NODE_OPTIONS: '--v8-pool-size=3',
    A: 'b',
  };
  expect(nodeEnvironment(own, 2)).toEqual({
    ...own,
    NODE_OPTIONS: '--v8-pool-size=1 --v8-pool-size=3',
  });
});

it('is understood by Node', () => {
  const threadCount = (cores: number) => {
    const script = "console.log(require('fs').readdirSync('/proc/self/task').length)";
    const env = nodeEnvironment(process.env, cores);
    return Number(execFileSync(process.execPath, ['-e', script], { env, encoding: 'utf8' }));
  };
  expect(threadCount(5) - threadCount(2)).toBe(3);
});
