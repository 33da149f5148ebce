/**
 * Which processes of a cluster run: the supervisor's own file, which is also the lock on the data
 * directory, and the list of its children, kept so that they can be found after a killed supervisor.
 */
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '@orch/component';
import { clusterPaths } from './cluster-directory.js';
import type { ComponentName } from './components.js';
import { identityOf, isAlive, type ProcessIdentity } from './process-identity.js';
import { UserError } from './user-error.js';

export interface ChildRecord {
  readonly component: ComponentName;
  readonly hasTeardown: boolean;
  readonly name: string;
  readonly main: string;
  readonly args: readonly string[];
  /** Absent while it is waiting to be started again. */
  readonly identity?: ProcessIdentity;
}

/** Takes the directory for this process. Throws `UserError` when a live supervisor has it. */
export function takeDirectory(dataDirectory: string): void {
  const path = supervisorPath(dataDirectory);
  const own = identityOf(process.pid);
  if (!own) throw new Error('the own process is not in /proc');
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    for (;;) {
      try {
        linkSync(draft, path);
        return;
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      }
      const holder = liveSupervisor(dataDirectory);
      if (holder) throw alreadyRunning(dataDirectory, holder);
      rmSync(path, { force: true });
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

export function alreadyRunning(dataDirectory: string, holder: ProcessIdentity): UserError {
  return new UserError(
    `the cluster in ${dataDirectory} is running already (pid ${holder.pid}); stop it with: npm run down -- --data-dir ${dataDirectory}`,
  );
}

export function releaseDirectory(dataDirectory: string): void {
  rmSync(supervisorPath(dataDirectory), { force: true });
}

/** After an ordered end: nothing is left to be cleaned up. */
export function forgetChildren(dataDirectory: string): void {
  rmSync(childrenPath(dataDirectory), { force: true });
}

/** The supervisor that runs this directory now. */
export function liveSupervisor(dataDirectory: string): ProcessIdentity | undefined {
  const identity = readJson<ProcessIdentity>(supervisorPath(dataDirectory));
  return identity && isAlive(identity) ? identity : undefined;
}

export function recordChildren(dataDirectory: string, children: readonly ChildRecord[]): void {
  writeFileAtomic(childrenPath(dataDirectory), JSON.stringify(children), 0o600);
}

/** Children of the last supervisor that did not end in order; none after an ordered end. */
export function recordedChildren(dataDirectory: string): ChildRecord[] {
  return readJson<ChildRecord[]>(childrenPath(dataDirectory)) ?? [];
}

function supervisorPath(dataDirectory: string): string {
  return join(clusterPaths(dataDirectory).run, 'supervisor.json');
}

function childrenPath(dataDirectory: string): string {
  return join(clusterPaths(dataDirectory).run, 'children.json');
}

function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
