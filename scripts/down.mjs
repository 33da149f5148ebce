/** `npm run down`: stops the cluster of a data directory (`orchctl down`). */
import { existsSync } from 'node:fs';
import { orchctlMain, setupOrExit } from './setup.mjs';

// An existing build can stop a cluster even if the current sources do not build.
if (!existsSync(orchctlMain)) setupOrExit();
process.argv.splice(1, 1, orchctlMain, 'down');
await import(orchctlMain);
