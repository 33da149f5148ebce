/**
 * The revisions of a stateful set or daemon set: each stores a pod template, as the strategic merge
 * patch that restores it. Pure; `revision-history.ts` reads and writes them.
 */
import { controllerReference, deepEqual } from '@orch/apimachinery';
import type { ApiObject } from '@orch/client';
import type { ControllerRevision } from '@orch/types/apps/v1';
import type { PodTemplateSpec } from '@orch/types/core/v1';
import type { LabelSelector } from '@orch/types/meta/v1';
import { createdMs } from './created.js';
import { nameHash } from './name-hash.js';

/** An owner of revisions, with apiVersion and kind. */
export interface RevisionOwner extends ApiObject {
  readonly spec?: {
    readonly selector?: LabelSelector;
    readonly template?: PodTemplateSpec;
    readonly revisionHistoryLimit?: number;
  };
  readonly status?: { readonly collisionCount?: number };
}

interface RevisionData {
  readonly spec?: { readonly template?: PodTemplateSpec & { readonly $patch?: string } };
}

const namePrefixCharsMax = 223;

/** The patch that restores the template of `owner`. */
function templatePatch(owner: RevisionOwner): RevisionData {
  return { spec: { template: { ...owner.spec?.template, $patch: 'replace' } } };
}

/** @param hashLabel the label that holds the hash of the data. */
export function newRevision(
  owner: RevisionOwner,
  number: number,
  collisionCount: number,
  hashLabel: string,
): ControllerRevision {
  const data = templatePatch(owner);
  const hash = nameHash(data, collisionCount);
  const { name = '', namespace, annotations } = owner.metadata ?? {};
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${name.slice(0, namePrefixCharsMax)}-${hash}`,
      namespace,
      labels: { ...owner.spec?.template?.metadata?.labels, [hashLabel]: hash },
      ...(annotations ? { annotations: { ...annotations } } : {}),
      ownerReferences: [controllerReference(owner)],
    },
    data,
    revision: number,
  };
}

/** Whether two revisions have the same template. */
export function sameData(a: ControllerRevision, b: ControllerRevision): boolean {
  return deepEqual(a.data, b.data);
}

/** The template that a revision stores. */
export function templateOf(revision: ControllerRevision): PodTemplateSpec {
  const { $patch: _directive, ...template } = (revision.data as RevisionData)?.spec?.template ?? {};
  return template;
}

export function numberOf(revision: ControllerRevision): number {
  return Number(revision.revision ?? 0);
}

/** Oldest first. */
export function inOrder(revisions: readonly ControllerRevision[]): ControllerRevision[] {
  return [...revisions].sort(
    (a, b) =>
      numberOf(a) - numberOf(b) || createdMs(a) - createdMs(b) || (nameOf(a) < nameOf(b) ? -1 : 1),
  );
}

/**
 * The revisions beyond the limit, oldest first. Live ones, which are current or have pods, do not
 * count.
 */
export function expiredRevisions(
  revisions: readonly ControllerRevision[],
  isLive: (revision: ControllerRevision) => boolean,
  limit: number,
): ControllerRevision[] {
  const past = inOrder(revisions).filter((revision) => !isLive(revision));
  return past.slice(0, Math.max(0, past.length - limit));
}

function nameOf(revision: ControllerRevision): string {
  return revision.metadata?.name ?? '';
}
