/**
 * Helpers of the programs of the chart: strict flags, running orchctl, waiting with a deadline, and
 * exiting with a one-line error. The programs run in pods, from the image, and access the cluster
 * only through orchctl.
 */
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

/** The built tree, which is beside this folder in the image. */
export const home = resolve(process.env.ORCH_HOME ?? join(import.meta.dirname, '..'));

const retryPauseMs = 2_000;
const requestTimeoutSeconds = 5;
/** Longer than the timeout of one request: a hanging child must not block the pod. */
const commandTimeoutMs = 30_000;
const outputBytesMax = 4 * 1024 * 1024;

/** A failure of the program, with a message for the operator. */
export class CommandError extends Error {}

/**
 * Flags of the command line, all `--name=value`. Throws CommandError for unknown and missing ones.
 */
export function flags(names, optionalNames = []) {
  const options = Object.fromEntries(
    [...names, ...optionalNames].map((name) => [name, { type: 'string' }]),
  );
  let values;
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new CommandError(error.message);
  }
  for (const name of names) {
    if (values[name] === undefined) throw new CommandError(`--${name} is needed`);
  }
  return values;
}

/** A flag's value as a whole number. */
export function wholeNumber(values, name) {
  const number = Number(values[name]);
  if (!Number.isInteger(number) || number < 0) {
    throw new CommandError(`--${name}: want a whole number, got ${JSON.stringify(values[name])}`);
  }
  return number;
}

/**
 * Runs orchctl. Resolves with its output, rejects with a CommandError that ends in its error
 * output.
 */
export function orchctl(args, { input = '', timeoutMs = commandTimeoutMs } = {}) {
  const child = startOrchctl(args);
  child.stdin.end(input);
  return new Promise((done, fail) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const output = collect(child.stdout);
    const errors = collect(child.stderr);
    child.on('error', fail);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) return done(output());
      const why = errors().trim() || `ended by ${signal ?? `code ${code}`}`;
      fail(new CommandError(`orchctl ${args.slice(0, 3).join(' ')}: ${why}`));
    });
  });
}

/** Starts an orchctl that runs until it is killed. */
export function startOrchctl(args) {
  const main = join(home, 'dist/apps/orchctl/src/main.js');
  return spawn(process.execPath, [main, `--request-timeout=${requestTimeoutSeconds}s`, ...args]);
}

function collect(stream) {
  const chunks = [];
  let byteCount = 0;
  stream.on('data', (chunk) => {
    byteCount += chunk.length;
    if (byteCount <= outputBytesMax) chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

/** The replicas by name. Rejects with CommandError if no server responds. */
export async function members() {
  const view = JSON.parse(await orchctl(['cluster', 'members', '-o', 'json']));
  return new Map(view.members.map((member) => [member.name, member]));
}

/** Calls `attempt` until it returns a value. Rejects with the last reason after the timeout. */
export async function until(timeoutMs, attempt, stillWaitingFor) {
  const deadline = performance.now() + timeoutMs;
  let reason = stillWaitingFor;
  for (;;) {
    try {
      const result = await attempt((why) => {
        reason = why;
      });
      if (result !== undefined) return result;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      reason = error.message;
    }
    if (performance.now() > deadline) {
      throw new CommandError(`gave up after ${Math.round(timeoutMs / 1000)} s: ${reason}`);
    }
    await sleep(retryPauseMs);
  }
}

export function say(text) {
  process.stdout.write(`${text}\n`);
}

/** Runs the program. A CommandError is printed as one line and sets the exit code 1. */
export async function run(program) {
  try {
    await program();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
