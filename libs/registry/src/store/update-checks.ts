/** Checks of a new object against the stored one before an update. */
import type { ApiObject, StrategyContext } from '@orch/api';
import { badRequest, conflict, fieldError, invalid, Literal } from '@orch/apimachinery';
import type { Entry } from '@orch/store';
import { objectOf } from '../objects/entry-view.js';
import { listedErrors } from '../objects/listed-errors.js';
import { metadataOf } from '../objects/object-metadata.js';
import type { ServedResource } from '../table/resource.js';
import type { ObjectKey, UpdateStrategy } from './update-strategy.js';

/**
 * A version that the client sent must be the stored one; an absent version is set. Throws 409 and
 * 422.
 */
export function checkVersion(
  { definition, groupResource }: ServedResource,
  name: string,
  object: ApiObject,
  entry: Entry,
): void {
  const metadata = metadataOf(object);
  const sent = metadata.resourceVersion ?? '';
  const current = String(entry.revision);
  if (sent === '' || sent === '0') {
    const { unconditionalUpdate = true, allocate: allocates } = definition;
    if (unconditionalUpdate) metadata.resourceVersion = current;
    // Kinds that allocate are validated as a whole first, which reports the missing version.
    else if (!allocates) {
      const { group, resource } = groupResource;
      throw invalid({ group, kind: resource }, name, [
        fieldError.invalid(
          'metadata.resourceVersion',
          new Literal('0x0'),
          'must be specified for an update',
        ),
      ]);
    }
    return;
  }
  if (!/^\d+$/.test(sent)) {
    throw badRequest(`strconv.ParseUint: parsing ${JSON.stringify(sent)}: invalid syntax`);
  }
  if (sent !== current) throw conflict(groupResource, name);
}

/** Runs before the object is reported missing: a missing object has no uid. Throws 409. */
export function checkUid(
  { groupResource, resource }: ServedResource,
  { namespace, name }: ObjectKey,
  uid: string,
  entry: Entry | undefined,
): void {
  const stored = (entry && objectOf(entry).metadata?.uid) ?? '';
  if (uid === '' || uid === stored) return;
  throw conflict(
    groupResource,
    name,
    `StorageError: invalid object, Code: 4, Key: ${resource.key(namespace, name)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored}`,
  );
}

/** Throws 422 with every error of the metadata and of the strategy. */
export function checkUpdate(
  served: ServedResource,
  name: string,
  strategy: UpdateStrategy,
  object: ApiObject,
  existing: ApiObject,
  context: StrategyContext,
): void {
  const errors = listedErrors(() => [...strategy.validate(object, existing, context)]);
  if (errors.length > 0) throw invalid(served.groupKind, name, errors);
}
