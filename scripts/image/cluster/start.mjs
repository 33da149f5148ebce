/**
 * Starts the API server of a pod as decided by `prepare`. Arguments: the file with the decision,
 * then the flags of the server. The server runs in this process, so that signals reach it directly.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { home } from './command.mjs';

const [program, , stateFile, ...serverFlags] = process.argv;
const state = readFileSync(stateFile, 'utf8').trim();
const main = join(home, 'dist/apps/apiserver/src/main.js');
// First, so that the user's flag overrides it.
process.argv = [program, main, `--initial-cluster-state=${state}`, ...serverFlags];
await import(main);
