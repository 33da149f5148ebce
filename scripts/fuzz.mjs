/**
 * Builds what is missing and feeds every decoder random input:
 * npm run fuzz -- --runs N --seed S [--only NAME,...] [--path P] [--list] | --short
 * `--short` is what `npm test` runs: few inputs, always the same ones. docs/fuzzing.md says more.
 */
import { join } from 'node:path';
import { buildTests, runOrExit } from './build-tests.mjs';

const short = ['--runs', '400', '--seed', '1'];

const given = process.argv.slice(2);
const options = given.includes('--short')
  ? [...short, ...given.filter((word) => word !== '--short')]
  : given;
const tests = buildTests(['fuzz']);
runOrExit(process.execPath, [join(tests, 'fuzz', 'main.js'), ...options]);
