/** Builds stale outputs and runs chaos on real processes: see docs/chaos.md for the options. */
import { join } from 'node:path';
import { buildTests, runOrExit } from './build-tests.mjs';

const tests = await buildTests(['history', 'chaos']);
runOrExit(process.execPath, [join(tests, 'chaos', 'main.js'), ...process.argv.slice(2)]);
