/**
 * Reconciles definitions of custom resources: accepts names, establishes kinds, sets conditions,
 * and removes the objects of definitions that are being deleted. Every server of the cluster does
 * it; a second server finds nothing to do.
 */
import { cleanupFinalizer, reconcileDefinitionStatus } from '@orch/api';
import { fieldSetOf, formatTime } from '@orch/apimachinery';
import type { Logger } from '@orch/component';
import type { Entry, Operation } from '@orch/store';
import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1beta1';
import { cleanupCheckMs, definitionSettleMs } from '../limits.js';
import { freshObject, objectOf } from '../objects/entry-view.js';
import { trackWrite } from '../objects/field-ownership.js';
import { storedBytes } from '../objects/object-bytes.js';
import { Reconciler } from '../reconciling/reconciler.js';
import { type KindName, SystemObjectsWriter } from '../reconciling/system-objects-writer.js';
import type { Registry } from '../store/registry.js';
import { removeObjects } from './cleanup.js';

const definitions: KindName = {
  plural: 'customresourcedefinitions',
  groupHead: 'apiextensions',
};
const fieldsOutsideStatus = fieldSetOf('metadata', 'spec');

export function definitionReconciler(registry: Registry, logger: Logger): Reconciler {
  const { plural, groupHead } = definitions;
  const { resource } = registry.storeOf(plural, groupHead).served;
  const round = async () => {
    const writer = new SystemObjectsWriter(registry);
    let entries = await writer.entries(definitions);
    for (const key of [...entries.keys()]) {
      const entry = entries.get(key);
      if (!entry || !(await reconcileStatus(writer, entry, [...entries.values()]))) continue;
      entries = await writer.entries(definitions);
    }
    return (await removeTerminating(writer, entries.values())) ? undefined : cleanupCheckMs;
  };
  const { rawStore: store, clock } = registry;
  return new Reconciler(
    { store, clock, logger },
    {
      name: 'custom resource definitions',
      prefixes: [resource.keyPrefix],
      settleMs: definitionSettleMs,
      round,
    },
  );
}

/** Returns false if objects of a definition are left. */
async function removeTerminating(
  writer: SystemObjectsWriter,
  entries: Iterable<Entry>,
): Promise<boolean> {
  let isComplete = true;
  for (const entry of entries) {
    const { metadata } = objectOf(entry);
    if (metadata?.deletionTimestamp === undefined) continue;
    if (!metadata.finalizers?.includes(cleanupFinalizer())) continue;
    if (!(await removeObjects(writer, metadata.name ?? ''))) isComplete = false;
  }
  return isComplete;
}

/**
 * Names are checked against all definitions of the group and committed only while those are
 * unchanged, so that two definitions never both get a name. Returns whether the definition was
 * written.
 */
async function reconcileStatus(
  { registry, context }: SystemObjectsWriter,
  entry: Entry,
  all: readonly Entry[],
): Promise<boolean> {
  const { clock, rawStore } = registry;
  const { plural, groupHead } = definitions;
  const { served } = registry.storeOf(plural, groupHead);
  const existing = objectOf<CustomResourceDefinition>(entry);
  const object = freshObject<CustomResourceDefinition>(entry);
  const siblings = all.filter(
    (other) =>
      other.key !== entry.key &&
      objectOf<CustomResourceDefinition>(other).spec.group === object.spec.group,
  );
  const older = new Set(
    siblings
      .filter(({ createRevision }) => createRevision < entry.createRevision)
      .map((other) => objectOf(other)),
  );
  const others = siblings.map((other) => objectOf<CustomResourceDefinition>(other));
  const now = formatTime(clock.nowMs());
  if (!reconcileDefinitionStatus(object, others, (other) => older.has(other), now)) return false;
  if (context.fieldManager !== undefined) {
    trackWrite(served, object, existing, {
      manager: context.fieldManager,
      nowMs: clock.nowMs(),
      resetFields: fieldsOutsideStatus,
      acceptsSentFields: false,
    });
  }
  const { resource } = served;
  const checks = siblings.map(
    ({ key, revision }): Operation => ({
      kind: 'check',
      key,
      expect: { kind: 'revision', revision },
    }),
  );
  const put: Operation = {
    kind: 'put',
    key: entry.key,
    bytes: storedBytes(resource, object),
    revisionOffset: resource.revisionOffset,
    expect: { kind: 'revision', revision: entry.revision },
  };
  // A failed check means that a definition has changed: the next round reads it.
  const leftMs = registry.timeLeftMs(context.deadlineMs);
  return (await rawStore.commit([put, ...checks], leftMs)).succeeded;
}
