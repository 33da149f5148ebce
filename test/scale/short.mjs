/** The stage `scale` of `npm test`: the short forms of the scale test and of the overload test. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

for (const script of ['run.mjs', 'overload.mjs']) {
  const args = [join(import.meta.dirname, script), '--short'];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
