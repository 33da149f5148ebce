/**
 * What a deployment notes on its replica sets: revision and its history, and the sizes that the
 * deployment had when they were last scaled (proportional scaling starts from them). Pure.
 */
import { dialect } from '@orch/component';
import type { Deployment, ReplicaSet } from '@orch/types/apps/v1';
import { limits } from '../limits.js';

type Annotated = { metadata?: { annotations?: Record<string, string> } };
export type Annotations = Readonly<Record<string, string>>;

const key = (name: string) => dialect().key(name, 'deployment');
export const revisionKey = () => key('revision');
const historyKey = () => key('revision-history');
const desiredKey = () => key('desired-replicas');
const maxKey = () => key('max-replicas');
/** Requests a rollback to a revision; 0 is the previous one. Stored by an older API version. */
export const rollbackKey = 'deprecated.deployment.rollback.to';

/** 0 when there is none. */
export function revisionOf(object: Annotated): number {
  return intAnnotation(object, revisionKey()) ?? 0;
}

export const desiredReplicasOf = (object: Annotated) => intAnnotation(object, desiredKey());
export const maxReplicasOf = (object: Annotated) => intAnnotation(object, maxKey());

function intAnnotation(object: Annotated, name: string): number | undefined {
  const text = object.metadata?.annotations?.[name];
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined;
}

/**
 * The replica set's annotations after the deployment's have been copied and the revision raised.
 */
export function annotationsForRevision(
  deployment: Deployment,
  replicaSet: ReplicaSet,
  revision: number,
): Annotations {
  const own: Record<string, string> = { ...replicaSet.metadata?.annotations };
  const skipped = new Set([
    dialect().key('last-applied-configuration', 'kubectl'),
    revisionKey(),
    historyKey(),
    desiredKey(),
    maxKey(),
    rollbackKey,
  ]);
  for (const [name, value] of Object.entries(deployment.metadata?.annotations ?? {})) {
    if (!skipped.has(name)) own[name] = value;
  }
  const oldRevision = own[revisionKey()];
  if (oldRevision !== undefined && Number(oldRevision) >= revision) return own;
  own[revisionKey()] = String(revision);
  if (oldRevision !== undefined) own[historyKey()] = longerHistory(own[historyKey()], oldRevision);
  return own;
}

function longerHistory(history: string | undefined, revision: string): string {
  const all = history ? [...history.split(','), revision] : [revision];
  while (all.length > 1 && all.join(',').length > limits.revisionHistoryCharsMax) all.shift();
  return all.join(',');
}

export function withSizes(annotations: Annotations, desired: number, max: number): Annotations {
  return { ...annotations, [desiredKey()]: String(desired), [maxKey()]: String(max) };
}

/** The annotations that a rollback takes from a replica set: all but the controller's own. */
export function annotationsForRollback(deployment: Deployment, target: ReplicaSet): Annotations {
  const applied = dialect().key('last-applied-configuration', 'kubectl');
  const own = new Set([revisionKey(), historyKey(), desiredKey(), maxKey(), rollbackKey, applied]);
  const kept = Object.entries(deployment.metadata?.annotations ?? {}).filter(
    ([name]) => own.has(name) && name !== rollbackKey,
  );
  const taken = Object.entries(target.metadata?.annotations ?? {}).filter(
    ([name]) => !own.has(name),
  );
  return Object.fromEntries([...taken, ...kept]);
}
