/** Creating objects: names, system metadata, preparation, validation, allocation and the one commit. */
import { type ApiObject, dropDisabledFields } from '@orch/api';
import {
  alreadyExists,
  badRequest,
  generatedName,
  generateNameConflict,
  invalid,
  serverTimeout,
} from '@orch/apimachinery';
import type { Entry } from '@orch/store';
import type { AdmissionRequest } from '../admission/admission.js';
import { allocationAttemptsMax, generatedNameAttemptsMax } from '../limits.js';
import { allocate } from './allocation.js';
import { objectOf } from './entry-view.js';
import { leaveOwnersOut, trackWrite } from './field-ownership.js';
import { listedErrors } from './listed-errors.js';
import { detachedEntry, storedBytes } from './object-bytes.js';
import {
  checkNamespace,
  metadataErrors,
  metadataOf,
  prepareMetadataForCreate,
} from './object-metadata.js';
import {
  type RegistryParts,
  requestContext,
  timeLeftMs,
  type WriteContext,
} from './registry-parts.js';
import type { ServedResource } from './resource.js';
import { objectStrategy } from './strategies.js';

/**
 * Creates `object`, which is in the stored shape and the registry's from now on. Answers with the
 * stored entry, or with one that is in no store for a dry run. Throws StatusError and StoreError.
 */
export async function createObject(
  parts: RegistryParts,
  served: ServedResource,
  namespace: string,
  object: ApiObject,
  context: WriteContext,
): Promise<Entry> {
  const { definition } = served;
  checkNamespace(served, object, namespace);
  const { resourceVersion } = metadataOf(object);
  if (resourceVersion) {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  const request = requestContext(parts, context, served);
  if (context.manager !== undefined) {
    trackWrite(served, object, undefined, {
      manager: context.manager,
      nowMs: parts.clock.nowMs(),
      resetFields: objectStrategy(served).resetFields,
      takesSent: true,
    });
  }
  if (!parts.features.enabled('ServerSideApply')) delete object.metadata?.managedFields;
  await parts.admission.mutate(admissionOf(parts, served, namespace, object, context));
  prepareMetadataForCreate(object, definition, parts.newUid(), parts.clock.nowMs());
  dropDisabledFields(object, undefined, definition.gatedFields ?? [], parts.features);
  definition.prepareForCreate?.(object, request);
  // Only now: admission and kinds may have put another metadata in place.
  const metadata = metadataOf(object);
  const prefix = metadata.name ? '' : (metadata.generateName ?? '');
  for (let attempt = 1; ; attempt += 1) {
    const before = metadata.name || undefined;
    if (prefix !== '') metadata.name = generatedName(prefix, parts.random);
    if (attempt === 1 || prefix !== '') {
      definition.prepareNamed?.(object, attempt === 1 ? undefined : before, request);
    }
    if (attempt === 1) await validate(parts, served, namespace, object, context);
    const entry = await createFitting(parts, served, namespace, object, context);
    if (entry !== 'nameTaken') return entry;
    if (attempt === generatedNameAttemptsMax) {
      throw generateNameConflict(served.groupResource, metadata.name ?? '');
    }
  }
}

async function validate(
  parts: RegistryParts,
  served: ServedResource,
  namespace: string,
  object: ApiObject,
  context: WriteContext,
): Promise<void> {
  const { definition } = served;
  const request = requestContext(parts, context, served);
  const errors = listedErrors(() => [
    ...metadataErrors(object, definition),
    ...(definition.validate?.(object, request) ?? []),
    ...(definition.validateCreate?.(object, request) ?? []),
  ]);
  const name = object.metadata?.name ?? '';
  if (errors.length > 0) throw invalid(served.groupKind, name, errors);
  if (definition.warnings) context.warnings.push(...definition.warnings(object));
  await parts.admission.validate(admissionOf(parts, served, namespace, object, context));
}

function admissionOf(
  parts: RegistryParts,
  served: ServedResource,
  namespace: string,
  object: ApiObject,
  context: WriteContext,
): AdmissionRequest {
  return {
    operation: 'CREATE',
    served,
    namespace,
    name: object.metadata?.name ?? '',
    subresource: '',
    object,
    old: undefined,
    context: requestContext(parts, context, served),
    deadlineMs: context.deadlineMs,
  };
}

async function createFitting(
  ...create: Parameters<typeof tryCreate>
): Promise<Entry | 'nameTaken'> {
  const [parts, , , object, context] = create;
  const attempt = () =>
    context.dryRun
      ? tryCreate(...create)
      : parts.admission.reserving(
          admissionOf(...create),
          () => tryCreate(...create),
          (result) => result !== 'nameTaken',
        );
  try {
    return await attempt();
  } catch (error) {
    if (context.manager === undefined || !leaveOwnersOut(error, object)) throw error;
    return attempt();
  }
}

/** `nameTaken` only for generated names; a name the client chose is refused with 409. */
async function tryCreate(
  parts: RegistryParts,
  served: ServedResource,
  namespace: string,
  object: ApiObject,
  context: WriteContext,
): Promise<Entry | 'nameTaken'> {
  const { resource, definition } = served;
  const { name = '', generateName } = metadataOf(object);
  const generated =
    Boolean(generateName) && name !== generateName && name.startsWith(generateName!);
  const key = resource.key(namespace, name);
  for (let attempt = 1; attempt <= allocationAttemptsMax; attempt += 1) {
    const candidate = definition.allocate ? structuredClone(object) : object;
    if (context.dryRun) {
      const current = await currentOf(parts, key, context);
      if (current && generated) return 'nameTaken';
      if (current) throw exists(served, name, current);
      allocate(parts, served, context, candidate, undefined);
      return detachedEntry(resource, candidate, key);
    }
    const claims = allocate(parts, served, context, candidate, undefined);
    const expectations = await parts.admission.expectations(
      admissionOf(parts, served, namespace, candidate, context),
    );
    const result = await parts.store.commit(
      [
        {
          kind: 'put',
          key,
          bytes: storedBytes(resource, candidate),
          revisionOffset: resource.revisionOffset,
          ...(definition.timeToLiveMs !== undefined && { timeToLiveMs: definition.timeToLiveMs }),
          expect: { kind: 'absent' },
        },
        ...claims,
        ...expectations,
      ],
      timeLeftMs(parts, context.deadlineMs),
    );
    if (result.succeeded) return result.entries[0]!;
    if (result.failedOperation > 0) continue;
    if (generated) return 'nameTaken';
    throw exists(served, name, result.current);
  }
  throw serverTimeout(served.groupResource, 'create', 1);
}

async function currentOf(
  parts: RegistryParts,
  key: string,
  context: WriteContext,
): Promise<Entry | undefined> {
  const { entry } = await parts.store.get(key, {
    consistency: { kind: 'quorum' },
    timeoutMs: timeLeftMs(parts, context.deadlineMs),
  });
  return entry;
}

function exists(served: ServedResource, name: string, current: Entry | undefined): Error {
  const beingDeleted =
    current !== undefined && objectOf(current).metadata?.deletionTimestamp !== undefined;
  return alreadyExists(served.groupResource, name, beingDeleted);
}
