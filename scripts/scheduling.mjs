/**
 * Long tests of the scheduler, whose short forms are part of `npm test`:
 * npm run scheduling -- worlds [--worlds N] [--seed S]   compares it with a naive scheduler
 * npm run scheduling -- kills [--kills N]                kills its process under load
 * See docs/scheduler.md.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildTests, runOrExit } from './build-tests.mjs';
import { setupAndContinue } from './setup.mjs';

const [mode, ...rest] = process.argv.slice(2);
if (mode === 'worlds') {
  const tests = await buildTests(['scheduling', 'simulation']);
  runOrExit(process.execPath, [join(tests, 'scheduling', 'main.js'), ...rest]);
} else if (mode === 'kills') {
  const { values } = parseArgs({ args: rest, options: { kills: { type: 'string' } } });
  process.env.ORCH_SCHEDULER_KILLS = values.kills ?? '100';
  await setupAndContinue();
  const vitest = join('node_modules', 'vitest', 'vitest.mjs');
  const spec = 'test/e2e/scheduler-kills.spec.ts';
  runOrExit(process.execPath, [vitest, 'run', '--config', 'test/e2e/vitest.config.ts', spec]);
} else {
  console.error('usage: npm run scheduling -- worlds [--worlds N] [--seed S] | kills [--kills N]');
  process.exit(2);
}
