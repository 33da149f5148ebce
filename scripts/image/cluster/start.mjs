/**
 * Starts the API server of a pod the way `prepare` decided. Arguments: the file with the decision, then the
 * server's flags. It becomes the server, in this process: signals reach it directly.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { home } from './command.mjs';

const [program, , stateFile, ...serverFlags] = process.argv;
const state = readFileSync(stateFile, 'utf8').trim();
const main = join(home, 'dist/apps/apiserver/src/main.js');
// Before the others: a flag given twice by the user wins.
process.argv = [program, main, `--initial-cluster-state=${state}`, ...serverFlags];
await import(main);
