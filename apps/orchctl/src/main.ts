/** Entry of the command line. */
import { processIo } from './lib/io.js';

const [first, ...rest] = process.argv.slice(2);
if (first === 'up' || first === 'down') {
  const { runClusterCommand } = await import('./up/run.js');
  // A running cluster leaves timers and listeners behind; its end is the end of the process.
  process.exit(await runClusterCommand(first, rest));
}
const { run } = await import('./cli.js');
// The libraries' timers do not keep a process alive; this one does until the command has ended.
const alive = setInterval(() => undefined, 2 ** 30);
process.exitCode = await run(process.argv.slice(2), processIo());
clearInterval(alive);
