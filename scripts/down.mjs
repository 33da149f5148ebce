/** `npm run down`: stops the cluster of a data directory (`orchctl down`). */
import { runOrchctl } from './run-orchctl.mjs';
import { setupOrExit } from './setup.mjs';

setupOrExit();
runOrchctl(['down', ...process.argv.slice(2)]);
