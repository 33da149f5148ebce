/** `npm run down`: stops the cluster of a data directory (`orchctl down`). */
import { existsSync } from 'node:fs';
import { orchctlMain, setupOrExit } from './setup.mjs';

// What is built can stop what runs, even while the sources do not build.
if (!existsSync(orchctlMain)) setupOrExit();
process.argv.splice(1, 1, orchctlMain, 'down');
await import(orchctlMain);
