/**
 * Changing objects: replace, patch and subresources are all "make the new object from the stored one
 * and write it unless somebody was faster". A lost race is tried again; where the client named a
 * version, the next attempt finds that it is no longer the stored one. Reads begin with this replica's memory; what would be refused is confirmed by a quorum read.
 */
import { type ApiObject, dropDisabledFields, type RequestContext } from '@orch/api';
import {
  badRequest,
  conflict,
  deepEqual,
  type FieldError,
  type FieldSet,
  fieldError,
  invalid,
  Literal,
  notFound,
  StatusError,
} from '@orch/apimachinery';
import type { Entry, Operation } from '@orch/store';
import { updateAttemptsMax } from '../limits.js';
import { allocate, release } from './allocation.js';
import { freshObject, objectOf, viewOf } from './entry-view.js';
import { keepTimes, leaveOwnersOut, trackWrite } from './field-ownership.js';
import { removedByUpdate } from './finalization.js';
import { listedErrors } from './listed-errors.js';
import { detachedEntry, sameStoredBytes, storedBytes, versionEnd } from './object-bytes.js';
import {
  checkIdentity,
  metadataOf,
  metadataUpdateErrors,
  prepareMetadataForUpdate,
} from './object-metadata.js';
import {
  type RegistryParts,
  requestContext,
  type Target,
  timeLeftMs,
  type WriteContext,
} from './registry-parts.js';
import type { Resource } from './resource.js';

/** What is particular to the way an object is written. */
export interface UpdateStrategy {
  readonly subresource: string;
  /** What `prepare` takes over from `old`: nobody comes to own it by this way of writing. */
  readonly resetFields: FieldSet;
  /** Takes over from `old` what this way of writing may not change. */
  prepare(object: ApiObject, old: ApiObject, context: RequestContext): void;
  validate(object: ApiObject, old: ApiObject, context: RequestContext): readonly FieldError[];
}

export interface Update {
  readonly strategy: UpdateStrategy;
  /** Makes the new object in the stored shape. `existing` is shared: never change it. */
  produce(existing: ApiObject, entry: Entry): ApiObject | Promise<ApiObject>;
  /** The stored object must have this uid; empty: any. */
  readonly uid: string;
}

/** Writes and answers with what is stored now, or would be. Throws StatusError and StoreError. */
export async function updateObject(
  parts: RegistryParts,
  target: Target,
  update: Update,
  context: WriteContext,
): Promise<Entry> {
  const { resource } = target.served;
  const key = resource.key(target.namespace, target.name);
  let refusal: StatusError | undefined;
  let refused: Entry | undefined;
  for (let attempt = 1; attempt <= updateAttemptsMax; attempt += 1) {
    const entry = await read(parts, key, attempt > 1, context);
    if (refusal && entry === refused) throw refusal;
    try {
      checkUid(target, update.uid, entry);
      if (!entry) throw notFound(target.served.groupResource, target.name);
      const outcome = await attemptUpdate(parts, target, update, entry, context);
      if (outcome !== 'lost') return outcome;
      refusal = undefined;
    } catch (error) {
      // What memory showed may be old: confirm before refusing.
      if (attempt > 1 || !(error instanceof StatusError)) throw error;
      refusal = error;
      refused = entry;
    }
  }
  throw conflict(target.served.groupResource, target.name);
}

async function read(
  parts: RegistryParts,
  key: string,
  quorum: boolean,
  context: WriteContext,
): Promise<Entry | undefined> {
  const { entry } = await parts.store.get(key, {
    consistency: { kind: quorum ? 'quorum' : 'any' },
    timeoutMs: timeLeftMs(parts, context.deadlineMs),
  });
  return entry;
}

/** `lost`: another writer was faster. */
async function attemptUpdate(
  parts: RegistryParts,
  target: Target,
  update: Update,
  entry: Entry,
  context: WriteContext,
): Promise<Entry | 'lost'> {
  const { served, namespace, name } = target;
  const { resource, definition } = served;
  const existing = objectOf(entry);
  const object = await update.produce(existing, entry);
  checkIdentity(served, object, namespace, name);
  checkVersion(target, object, entry);
  if (context.manager !== undefined) {
    trackWrite(served, object, existing, {
      manager: context.manager,
      nowMs: parts.clock.nowMs(),
      resetFields: update.strategy.resetFields,
      takesSent: update.strategy.subresource === '',
    });
  }
  if (!parts.features.enabled('ServerSideApply')) delete object.metadata?.managedFields;
  const request = requestContext(parts, context, served);
  const admission = {
    operation: 'UPDATE' as const,
    served,
    namespace,
    name,
    subresource: update.strategy.subresource,
    object,
    old: existing,
    context: request,
    deadlineMs: context.deadlineMs,
  };
  await parts.admission.mutate(admission);
  prepareMetadataForUpdate(object, existing);
  dropDisabledFields(object, existing, definition.gatedFields ?? [], parts.features);
  update.strategy.prepare(object, existing, request);
  validate(target, update.strategy, object, existing, request);
  if (definition.warnings) context.warnings.push(...definition.warnings(object));
  await parts.admission.validate(admission);
  keepTimes(object, existing);
  const bytes = storedBytes(resource, object);
  if (removedByUpdate(object, existing, definition)) {
    return removeByUpdate(parts, target, object, entry, context);
  }
  if (isUnchanged(resource, bytes, object, entry)) return entry;
  const claims = allocate(parts, served, context, object, existing);
  if (context.dryRun) return detachedEntry(resource, object, entry.key);
  const commitBytes = async (put: Buffer) => {
    const result = await parts.store.commit(
      [putAfter(resource, entry, put), ...claims],
      timeLeftMs(parts, context.deadlineMs),
    );
    return result.succeeded ? result.entries[0]! : 'lost';
  };
  const commit = (put: Buffer) =>
    parts.admission.reserving(
      admission,
      () => commitBytes(put),
      (result) => result !== 'lost',
    );
  try {
    return await commit(definition.allocate ? storedBytes(resource, object) : bytes);
  } catch (error) {
    if (context.manager === undefined || !leaveOwnersOut(error, object)) throw error;
    return commit(storedBytes(resource, object));
  }
}

function putAfter(resource: Resource, { key, revision }: Entry, bytes: Buffer): Operation {
  const { timeToLiveMs } = resource.definition;
  return {
    kind: 'put',
    key,
    bytes,
    revisionOffset: resource.revisionOffset,
    ...(timeToLiveMs !== undefined && { timeToLiveMs }),
    expect: { kind: 'revision', revision },
  };
}

/** Writing what is there already changes nothing; keys of maps may stand in another order. */
function isUnchanged(resource: Resource, bytes: Buffer, object: ApiObject, entry: Entry): boolean {
  if (viewOf(entry).isStale) return false;
  if (sameStoredBytes(resource, bytes, entry)) return true;
  const versionBytes = versionEnd(resource, entry.bytes) - resource.revisionOffset;
  return bytes.length + versionBytes === entry.bytes.length && deepEqual(object, objectOf(entry));
}

/** A version the client named must be the stored one; otherwise it is set. Throws 409, 422. */
function checkVersion({ served, name }: Target, object: ApiObject, entry: Entry): void {
  const metadata = metadataOf(object);
  const sent = metadata.resourceVersion ?? '';
  const current = String(entry.revision);
  if (sent === '' || sent === '0') {
    const { unconditionalUpdate = true, allocate: allocates } = served.definition;
    if (unconditionalUpdate) metadata.resourceVersion = current;
    // Kinds that allocate are validated as a whole first, which reports the missing version.
    else if (!allocates) {
      const { group, resource } = served.groupResource;
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
  if (sent !== current) throw conflict(served.groupResource, name);
}

/** Comes before anything else: what is not there has no uid. Throws 409. */
function checkUid({ served, namespace, name }: Target, uid: string, entry?: Entry): void {
  const held = (entry && objectOf(entry).metadata?.uid) ?? '';
  if (uid === '' || uid === held) return;
  throw conflict(
    served.groupResource,
    name,
    `StorageError: invalid object, Code: 4, Key: ${served.resource.key(namespace, name)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${held}`,
  );
}

function validate(
  { served, name }: Target,
  strategy: UpdateStrategy,
  object: ApiObject,
  existing: ApiObject,
  context: RequestContext,
): void {
  const errors = listedErrors(() => [
    // Clients know these twice: once from the registry, once from the kind.
    ...metadataUpdateErrors(object, existing),
    ...metadataUpdateErrors(object, existing),
    ...strategy.validate(object, existing, context),
  ]);
  if (errors.length > 0) throw invalid(served.groupKind, name, errors);
}

async function removeByUpdate(
  parts: RegistryParts,
  { served }: Target,
  object: ApiObject,
  entry: Entry,
  context: WriteContext,
): Promise<Entry | 'lost'> {
  const last = detachedEntry(served.resource, object, entry.key);
  if (context.dryRun) return last;
  const result = await parts.store.commit(
    [
      {
        kind: 'delete',
        key: entry.key,
        expect: { kind: 'revision', revision: entry.revision },
      },
      ...release(parts, served, context, freshObject(entry)),
    ],
    timeLeftMs(parts, context.deadlineMs),
  );
  return result.succeeded ? last : 'lost';
}
