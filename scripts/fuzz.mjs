/**
 * Builds stale outputs and feeds random input to every decoder:
 * npm run fuzz -- --runs N --seed S [--only NAME,...] [--path P] [--list] | --short
 * `--short` is the form of `npm test`: a few inputs, the same each time. See docs/fuzzing.md.
 */
import { join } from 'node:path';
import { buildTests, runOrExit } from './build-tests.mjs';

const short = ['--runs', '400', '--seed', '1'];

const given = process.argv.slice(2);
const options = given.includes('--short')
  ? [...short, ...given.filter((word) => word !== '--short')]
  : given;
const tests = await buildTests(['fuzz']);
runOrExit(process.execPath, [join(tests, 'fuzz', 'main.js'), ...options]);
