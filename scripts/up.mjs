/** `npm run up`: makes the repository ready, then starts a cluster on this machine (`orchctl up`). */
import { runOrchctl } from './run-orchctl.mjs';
import { setupOrExit } from './setup.mjs';

setupOrExit();
runOrchctl(['up', ...process.argv.slice(2)]);
