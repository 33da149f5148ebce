/**
 * The running processes of a cluster: the supervisor's file, which is also the lock of the data
 * directory, and the list of its children, which survives a killed supervisor.
 */
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, writeFileAtomic } from '@orch/component';
import { clusterPaths } from '../cluster/cluster-directory.js';
import { UserError } from '../cluster/user-error.js';
import { identityOf, isAlive, type ProcessIdentity } from './process-identity.js';
import type { ComponentSpec, ProcessSpec } from './process-spec.js';

/** A component; several have the same process if they share it. */
export interface ChildRecord
  extends Pick<ComponentSpec, 'component' | 'hasTeardown' | 'name' | 'main' | 'args'> {
  /** The command of the process, if it runs several components. */
  readonly shared?: Pick<ProcessSpec, 'main' | 'args'>;
  /** Absent while the process waits for its restart. */
  readonly identity?: ProcessIdentity;
}

export function recordsOf(spec: ProcessSpec, identity: ProcessIdentity | undefined): ChildRecord[] {
  const { main, args, components } = spec;
  return components.map(({ component, hasTeardown, name, ...own }) => ({
    ...{ component, hasTeardown, name, main: own.main, args: own.args },
    ...(components.length > 1 && { shared: { main, args } }),
    ...(identity && { identity }),
  }));
}

/** Locks the directory for this process. Throws `UserError` if a live supervisor holds it. */
export function takeDirectory(dataDirectory: string): void {
  const path = supervisorPath(dataDirectory);
  const own = identityOf(process.pid);
  if (!own) throw new Error('this process is missing in /proc');
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    for (;;) {
      try {
        linkSync(draft, path);
        return;
      } catch (error) {
        if (!(errorCode(error) === 'EEXIST')) throw error;
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

/** Removes the list of children after an orderly shutdown. */
export function forgetChildren(dataDirectory: string): void {
  rmSync(childrenPath(dataDirectory), { force: true });
}

/** The running supervisor of the directory. */
export function liveSupervisor(dataDirectory: string): ProcessIdentity | undefined {
  const identity = readJson<ProcessIdentity>(supervisorPath(dataDirectory));
  return identity && isAlive(identity) ? identity : undefined;
}

export function recordChildren(dataDirectory: string, children: readonly ChildRecord[]): void {
  writeFileAtomic(childrenPath(dataDirectory), JSON.stringify(children), 0o600);
}

/** The children of a supervisor that did not shut down in order. */
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
    const parsed: T = JSON.parse(readFileSync(path, 'utf8'));
    return parsed;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
