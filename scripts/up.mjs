/** `npm run up`: prepares the checkout, then starts a cluster on this machine (`orchctl up`). */
import { orchctlMain, setupOrExit } from './setup.mjs';

setupOrExit();
process.argv.splice(1, 1, orchctlMain, 'up');
await import(orchctlMain);
