/** `npm run down`: makes the repository ready, then stops the cluster of a data directory (`orchctl down`). */
import { orchctlMain, setupOrExit } from './setup.mjs';

setupOrExit();
process.argv.splice(1, 1, orchctlMain, 'down');
await import(orchctlMain);
