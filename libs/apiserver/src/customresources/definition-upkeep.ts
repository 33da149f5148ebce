/**
 * What the server does about definitions: names accepted, the kind established, conditions told; and a
 * definition that is to go takes its objects with it. Every server of the cluster does it: whoever comes
 * second finds nothing to do.
 */
import { bringUpToDate, cleanupFinalizer } from '@orch/api';
import { formatTime, setOfFields } from '@orch/apimachinery';
import type { Logger } from '@orch/component';
import type { Entry, Operation } from '@orch/store';
import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1beta1';
import { servedKind, storedEntries, systemContext } from '../bootstrap/ensure-object.js';
import { Upkeep } from '../bootstrap/upkeep.js';
import { cleanupCheckMs, definitionSettleMs, upkeepTimeoutMs } from '../limits.js';
import { freshObject, objectOf } from '../registry/entry-view.js';
import { trackWrite } from '../registry/field-ownership.js';
import { storedBytes } from '../registry/object-bytes.js';
import { type RegistryParts, timeLeftMs, type WriteContext } from '../registry/registry-parts.js';
import { removeObjects } from './cleanup.js';
import type { CustomParts } from './custom-parts.js';

const groupHead = 'apiextensions';
const plural = 'customresourcedefinitions';
const notByStatus = setOfFields('metadata', 'spec');

export function definitionUpkeep(
  parts: RegistryParts,
  customParts: CustomParts,
  logger: Logger,
): Upkeep {
  const { resource } = servedKind(parts, plural, groupHead);
  const round = async () => {
    const context = systemContext(parts, upkeepTimeoutMs);
    let entries = await storedEntries(parts, resource.keyPrefix, context);
    for (const { key } of [...entries]) {
      const entry = entries.find((one) => one.key === key);
      if (!entry || !(await tellNames(parts, context, entry, entries))) continue;
      entries = await storedEntries(parts, resource.keyPrefix, context);
    }
    let isLeft = false;
    for (const entry of entries) {
      const { metadata } = objectOf(entry);
      if (metadata?.deletionTimestamp === undefined) continue;
      if (!metadata.finalizers?.includes(cleanupFinalizer())) continue;
      const isGone = await removeObjects(parts, customParts, context, metadata.name ?? '');
      isLeft = isLeft || !isGone;
    }
    return isLeft ? cleanupCheckMs : undefined;
  };
  const work = {
    name: 'custom resource definitions',
    prefixes: [resource.keyPrefix],
    settleMs: definitionSettleMs,
    round,
  };
  return new Upkeep(parts, work, logger);
}

/**
 * Names are looked at against all definitions of the group, and committed only while those are as they
 * were: two that want the same name never both get it. Answers whether there was something to tell.
 */
async function tellNames(
  parts: RegistryParts,
  context: WriteContext,
  entry: Entry,
  all: readonly Entry[],
): Promise<boolean> {
  const { clock, store } = parts;
  const served = servedKind(parts, plural, groupHead);
  const existing = objectOf(entry) as CustomResourceDefinition;
  const object = freshObject(entry) as CustomResourceDefinition;
  const now = formatTime(clock.nowMs());
  const siblings = all.filter(
    (other) =>
      other.key !== entry.key &&
      (objectOf(other) as CustomResourceDefinition).spec.group === object.spec.group,
  );
  const older = new Set(
    siblings
      .filter(({ createRevision }) => createRevision < entry.createRevision)
      .map((other) => objectOf(other)),
  );
  const others = siblings.map((other) => objectOf(other) as CustomResourceDefinition);
  if (!bringUpToDate(object, others, (other) => older.has(other), now)) return false;
  if (context.manager !== undefined && parts.features.enabled('ServerSideApply')) {
    trackWrite(served, object, existing, {
      manager: context.manager,
      nowMs: clock.nowMs(),
      resetFields: notByStatus,
      takesSent: false,
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
  // What does not hold any more has changed: the next round looks at it.
  const result = await store.commit([put, ...checks], timeLeftMs(parts, context.deadlineMs));
  return result.succeeded;
}
