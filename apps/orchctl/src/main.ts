/** Entry point of the command line. */
const [first, ...rest] = process.argv.slice(2);
if (first === 'up' || first === 'down') {
  const { runClusterCommand } = await import('./cluster.js');
  // A running cluster leaves timers and listeners behind, so the process ends explicitly.
  process.exit(await runClusterCommand(first, rest));
}
// Only `cli.js` and `cluster.js` import the library statically: the build bundles them.
const { runProcess } = await import('./cli.js');
// The libraries' timers do not keep the process alive; this one does until the command has ended.
const alive = setInterval(() => undefined, 2 ** 30);
process.exitCode = await runProcess(process.argv.slice(2));
clearInterval(alive);

export {};
