/** Runs one command of the built `orchctl` in place of this process, passing signals and the exit code. */
import { spawn } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

export function runOrchctl(args) {
  const main = join(root, 'dist', 'apps', 'orchctl', 'src', 'main.js');
  const child = spawn(process.execPath, [main, ...args], { stdio: 'inherit' });
  // A terminal sends its signals to both; those from elsewhere reach only us.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    process.stderr.write(`cannot run ${main}: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code) => process.exit(code ?? 1));
}
