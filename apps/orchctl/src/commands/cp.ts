/** `orchctl cp FROM TO`: files and directories into and out of containers, by `tar` at both ends. */
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, posix, resolve } from 'node:path';
import type { Configure } from '../lib/context.js';
import { CliError, RemoteExit, UsageError } from '../lib/errors.js';
import type { Session } from '../lib/session.js';
import { pack, unpack } from '../lib/streams/archive.js';
import { type LocalEnds, runRemotely } from '../lib/streams/command-client.js';
import { commandQuery, containerFor, podFor, podPath } from '../lib/streams/pod-target.js';

interface Remote {
  readonly namespace: string;
  readonly pod: string;
  readonly path: string;
}

type Run = (command: readonly string[], ends: Omit<LocalEnds, 'tty'>) => Promise<void>;

export const configureCp: Configure = (command, context) => {
  command
    .argument('<from>', 'PATH, or [NAMESPACE/]POD:PATH')
    .argument('<to>', 'the same; one of the two is on this machine')
    .option('-c, --container <name>', 'container of the pod; its first one when left out')
    .action(async (from: string, to: string, options: { container?: string }) => {
      const session = await context.session();
      const source = remoteOf(from, session);
      const target = remoteOf(to, session);
      const remote = source ?? target;
      if (!remote || (source && target)) {
        throw new UsageError('one of the two is in a pod, as POD:PATH, the other is not');
      }
      if (remote.path === '') throw new UsageError('say which path in the pod, as POD:PATH');
      const run = await runnerFor({ ...session, namespace: remote.namespace }, remote, options, {
        err: context.io.err,
        stderr: context.io.streams?.stderr,
      });
      if (source) await copyFrom(run, source.path, to);
      else await copyTo(run, from, remote.path);
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
  io: { err: (text: string) => void; stderr: NodeJS.WritableStream | undefined },
): Promise<Run> {
  const pod = await podFor(session, name);
  const container = containerFor(pod, options.container, io.err);
  return (command, ends) => {
    const query = commandQuery(container, { stdin: ends.stdin !== undefined, tty: false }, command);
    const stderr = io.stderr as LocalEnds['stderr'];
    const all = { ...(stderr && { stderr }), ...ends, tty: false };
    return runRemotely(session, podPath(pod, 'exec', query), all);
  };
}

async function copyTo(run: Run, from: string, to: string): Promise<void> {
  const path = resolve(from);
  if (!existsSync(path)) throw new CliError(`${from} does not exist`);
  const isDirectory = to.endsWith('/') || (await succeeds(run, ['test', '-d', to]));
  const target = isDirectory ? posix.join(to, basename(path)) : to;
  const { archive, ended } = pack(path, posix.basename(target));
  const unpacking = ['tar', '-x', '-m', '-f', '-', '-C', posix.dirname(target)];
  await run(unpacking, { stdin: archive });
  await ended;
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

async function copyFrom(run: Run, from: string, to: string): Promise<void> {
  const name = posix.basename(posix.resolve('/', from));
  const isDirectory = existsSync(to) && statSync(to).isDirectory();
  const target = isDirectory ? join(to, name) : resolve(to);
  // Beside the target: moving it there is then a renaming.
  const place = isDirectory ? to : dirname(target);
  if (!existsSync(place)) throw new CliError(`${place} does not exist`);
  const staging = mkdtempSync(join(place, '.orchctl-cp-'));
  try {
    const { archive, ended } = unpack(staging);
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
  if (!existsSync(from)) throw new CliError('the pod has sent something else');
  const bothDirectories = existsSync(to) && statSync(to).isDirectory();
  if (bothDirectories) cpSync(from, to, { recursive: true, force: true, verbatimSymlinks: true });
  else renameSync(from, to);
}
