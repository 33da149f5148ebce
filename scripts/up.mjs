/** `npm run up`: prepares the checkout, then starts a cluster on this machine (`orchctl up`). */
import { orchctlMain, setupAndContinue } from './setup.mjs';

await setupAndContinue();
process.argv.splice(1, 1, orchctlMain, 'up');
await import(orchctlMain);
