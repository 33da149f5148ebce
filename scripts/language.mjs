/**
 * `node scripts/language.mjs [FOLDER|FILE...]`: prints the phrases of its prose that docs/style.md
 * bans, each with the words to use, and exits with 1 if there is one.
 */
import { resolve } from 'node:path';
import { findingsIn, prosePaths, textOf } from './language/check.mjs';

const root = resolve(import.meta.dirname, '..');
const findings = findingsIn(root, prosePaths(root, process.argv.slice(2)));
for (const finding of findings) console.log(textOf(finding));
console.log(`${findings.length} banned phrases`);
process.exitCode = findings.length === 0 ? 0 : 1;
