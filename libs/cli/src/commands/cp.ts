/**
 * `orchctl cp FROM TO`: copies files and directories into and out of containers as tar archives,
 * which `tar` reads and writes in the container.
 */
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, posix, resolve } from 'node:path';
import { CliError, RemoteExit, UsageError } from '../command-line/errors.js';
import type { Configure } from '../session/command-context.js';
import type { Session } from '../session/session.js';
import { type LocalEnds, runRemotely } from '../streams/command-client.js';
import { pack } from '../streams/pack.js';
import { commandQuery, containerFor, podFor, podPath } from '../streams/pod-target.js';
import { unpack } from '../streams/unpack.js';

interface Remote {
  readonly namespace: string;
  readonly pod: string;
  readonly path: string;
}

type Warn = (text: string) => void;
type Run = (command: readonly string[], ends: Omit<LocalEnds, 'tty'>) => Promise<void>;

export const configureCp: Configure = (command, context) => {
  command
    .argument('<from>', 'PATH, or [NAMESPACE/]POD:PATH')
    .argument('<to>', 'PATH, or [NAMESPACE/]POD:PATH; one of the two is a local path')
    .option('-c, --container <name>', 'container of the pod; default: the first one')
    .action(async (from: string, to: string, options: { container?: string }) => {
      const session = await context.session();
      const source = remoteOf(from, session);
      const target = remoteOf(to, session);
      const remote = source ?? target;
      if (!remote || (source && target)) {
        throw new UsageError('exactly one of FROM and TO must be POD:PATH');
      }
      if (remote.path === '') throw new UsageError('the path in the pod is missing: give POD:PATH');
      const run = await runnerFor({ ...session, namespace: remote.namespace }, remote, options, {
        err: context.io.err,
        stderr: context.io.streams?.stderr,
      });
      if (source) await copyFrom(run, source.path, to, context.io.err);
      else await copyTo(run, from, remote.path, context.io.err);
    });
};

function remoteOf(text: string, session: Session): Remote | undefined {
  const match = /^(?:([a-z0-9.-]+)\/)?([a-z0-9][a-z0-9.-]*):(.*)$/s.exec(text);
  if (!match) return undefined;
  const [, namespace = session.namespace, pod = '', path = ''] = match;
  return { namespace, pod, path };
}

async function runnerFor(
  session: Session,
  { pod: name }: Remote,
  options: { container?: string },
  io: { err: (text: string) => void; stderr: LocalEnds['stderr'] },
): Promise<Run> {
  const pod = await podFor(session, name);
  const container = containerFor(pod, options.container, io.err);
  return (command, ends) => {
    const query = commandQuery(container, { stdin: ends.stdin !== undefined, tty: false }, command);
    const { stderr } = io;
    const all = { ...(stderr && { stderr }), ...ends, tty: false };
    return runRemotely(session, podPath(pod, 'exec', query), all);
  };
}

async function copyTo(run: Run, from: string, to: string, warn: Warn): Promise<void> {
  const path = resolve(from);
  if (!existsSync(path)) throw new CliError(`${from} does not exist`);
  const isDirectory = to.endsWith('/') || (await succeeds(run, ['test', '-d', to]));
  const target = isDirectory ? posix.join(to, basename(path)) : to;
  const { archive, ended } = pack(path, posix.basename(target), warn);
  const unpacking = ['tar', '-x', '-m', '-f', '-', '-C', posix.dirname(target)];
  const copied = run(unpacking, { stdin: archive });
  // A local read error makes the remote `tar` fail too, so it is reported first.
  await Promise.allSettled([copied, ended]);
  await ended;
  await copied;
}

async function succeeds(run: Run, command: readonly string[]): Promise<boolean> {
  try {
    await run(command, {});
    return true;
  } catch (error) {
    if (error instanceof RemoteExit) return false;
    throw error;
  }
}

async function copyFrom(run: Run, from: string, to: string, warn: Warn): Promise<void> {
  const name = posix.basename(posix.resolve('/', from));
  const isDirectory = existsSync(to) && statSync(to).isDirectory();
  const target = isDirectory ? join(to, name) : resolve(to);
  // In the directory of the target, so that a rename moves the result there.
  const place = isDirectory ? to : dirname(target);
  if (!existsSync(place)) throw new CliError(`${place} does not exist`);
  const staging = mkdtempSync(join(place, '.orchctl-cp-'));
  try {
    const { archive, ended } = unpack(staging, warn);
    const packing = ['tar', '-c', '-f', '-', '-C', posix.dirname(from), '--', name];
    await run(packing, { stdout: archive });
    archive.end();
    await ended;
    move(join(staging, name), target);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function move(from: string, to: string): void {
  if (!existsSync(from))
    throw new CliError('the archive from the pod does not contain the requested path');
  const bothDirectories = existsSync(to) && statSync(to).isDirectory();
  if (bothDirectories) cpSync(from, to, { recursive: true, force: true, verbatimSymlinks: true });
  else renameSync(from, to);
}
