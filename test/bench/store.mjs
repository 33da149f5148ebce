/**
 * Measures the store: alone (`sole`), one and three replicas compared with the same number of etcd
 * servers (`commits`, `reads`), and with 100,000 objects (`objects`). `npm run bench -- store` runs
 * all, `--only=commits,reads` some; `ORCH_BENCH_DIRECTORY` selects another disk,
 * `ORCH_BENCH_PROFILE` a directory for profiles of the replicas.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { benchCatchUp } from './store-catch-up.mjs';
import { benchRates } from './store-rates.mjs';

const chosen = process.argv
  .find((argument) => argument.startsWith('--only='))
  ?.slice(7)
  .split(',');
const only = (part) => chosen === undefined || chosen.includes(part);
const options = { short: process.argv.includes('--short'), only };

if (only('sole')) {
  const script = join(import.meta.dirname, 'store-sole.mjs');
  const { status } = spawnSync(process.execPath, [script, ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}
if (only('commits') || only('reads')) await benchRates(options);
if (only('objects')) await benchCatchUp(options);
