/**
 * `npm run overload -- [--short]`: clients that send too much, read nothing or never finish,
 * against one server, and their cost for it and for others. Prints the figures. Fails if a
 * bystander gets an error, if a request is neither served nor refused with 429, if memory exceeds
 * the buffers of the clients, or if the server does not recover. No figure of time is asserted.
 * `--short` is the form of `npm test`.
 */
import { parseArgs } from 'node:util';
import { setupAndContinue } from '../../scripts/setup.mjs';
import { printHeading } from '../bench/row.mjs';

await setupAndContinue();
const { values } = parseArgs({ options: { short: { type: 'boolean', default: false } } });
const { full, short } = await import('./overload/sizes.mjs');
const { Overload } = await import('./overload/overload.mjs');
const { phases } = await import('./overload/phases.mjs');
const sizes = values.short ? short : full;
const failures = [];

/** Runs phases against a new server. */
async function run(titles) {
  const overload = await Overload.start(sizes.flags);
  try {
    for (const title of titles) {
      printHeading(title);
      await phases[title](overload, sizes);
    }
  } finally {
    await overload.stop();
  }
  failures.push(...overload.failures);
}

const titles = Object.keys(phases);
// What one phase leaves in memory would hide the growth of the next, but a start takes time.
const parts = values.short ? [titles] : titles.map((title) => [title]);
for (const part of parts) await run(part);
for (const failure of failures) console.error(`failed: ${failure}`);
if (failures.length > 0) process.exitCode = 1;
