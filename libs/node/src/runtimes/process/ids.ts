/**
 * Random ids of sandboxes and containers. The id of a container is also the name of its exit file.
 */
import { randomBytes } from 'node:crypto';
import type { ContainerId, SandboxId } from '../container-runtime.js';

export function newSandboxId(): SandboxId {
  return randomId() as SandboxId;
}

export function newContainerId(): ContainerId {
  return randomId() as ContainerId;
}

/** Returns the id of the container that the exit file `name` belongs to. */
export function parseContainerId(name: string): ContainerId {
  return name as ContainerId;
}

function randomId(): string {
  return randomBytes(16).toString('hex');
}
