/**
 * Applies one object: creates it, or patches the fields that differ. Stores the applied
 * configuration in an annotation, so that the next apply knows which fields this tool set.
 */

import { isJsonObject, type JsonObject } from '@orch/apimachinery';
import {
  type ApiObject,
  isConflict,
  isNotFound,
  type PatchOptions,
  type ResourceClient,
} from '@orch/client';
import { dialect } from '@orch/component';
import { CliError } from '../command-line/errors.js';
import type { ResourceType } from '../session/catalog.js';
import type { PatchSchema } from './patch-schema.js';
import { threeWayPatch } from './three-way-patch.js';

export type DryRun = 'none' | 'client' | 'server';

export interface ApplyOptions {
  readonly dryRun: DryRun;
  readonly fieldManager: string;
}

export interface Applied {
  readonly action: 'created' | 'configured' | 'unchanged';
  readonly object: ApiObject;
  /** A warning for the user. */
  readonly warning?: string;
}

/** Attempts when another writer changes the object between reading and patching it. */
const attemptCountMax = 5;

/** The key of the annotation with the last applied configuration. Other tools use the same key. */
export function lastAppliedKey(): string {
  return dialect().key('last-applied-configuration', 'kubectl');
}

/** The object with its configuration as annotation. */
export function withLastApplied(object: ApiObject): ApiObject {
  const key = lastAppliedKey();
  const { [key]: _old, ...annotations } = object.metadata?.annotations ?? {};
  const plain = { ...object, metadata: { ...object.metadata, annotations } };
  const text = `${JSON.stringify(plain)}\n`;
  return {
    ...plain,
    metadata: { ...plain.metadata, annotations: { ...annotations, [key]: text } },
  };
}

export async function applyObject(
  object: ApiObject,
  client: ResourceClient<ApiObject>,
  type: ResourceType,
  schema: PatchSchema | undefined,
  options: ApplyOptions,
): Promise<Applied> {
  const desired = withLastApplied(object);
  const name = object.metadata?.name;
  if (!name)
    throw new CliError(`${type.kind} has no metadata.name, which apply needs to find the object`);
  for (let attempt = 1; ; attempt++) {
    const live = await client.get(name).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (!live) return create(desired, client, options);
    try {
      return await change(desired, live, client, schema, options);
    } catch (error) {
      if (!isConflict(error) || attempt >= attemptCountMax) throw error;
    }
  }
}

async function create(
  desired: ApiObject,
  client: ResourceClient<ApiObject>,
  options: ApplyOptions,
): Promise<Applied> {
  if (options.dryRun === 'client') return { action: 'created', object: desired };
  const object = await client.create(desired, writeOptions(options));
  return { action: 'created', object };
}

async function change(
  desired: ApiObject,
  live: ApiObject,
  client: ResourceClient<ApiObject>,
  schema: PatchSchema | undefined,
  options: ApplyOptions,
): Promise<Applied> {
  const last = lastApplied(live);
  const patch = threeWayPatch(jsonOf(last), jsonOf(desired), jsonOf(live), schema);
  const warning = last === undefined ? missingWarning(live) : undefined;
  if (!patch) return { action: 'unchanged', object: live };
  if (options.dryRun === 'client') return { action: 'configured', object: live, warning };
  const patchOptions: PatchOptions = {
    type: schema ? 'strategic' : 'merge',
    ...writeOptions(options),
  };
  const object = await client.patch(live.metadata?.name ?? '', patch, patchOptions);
  const same = object.metadata?.resourceVersion === live.metadata?.resourceVersion;
  return {
    action: same && options.dryRun === 'none' ? 'unchanged' : 'configured',
    object,
    warning,
  };
}

function writeOptions({ dryRun, fieldManager }: ApplyOptions) {
  return { dryRun: dryRun === 'server', fieldManager };
}

/** The last applied configuration. Undefined if the object was not created by apply. */
function lastApplied(live: ApiObject): ApiObject | undefined {
  const text = live.metadata?.annotations?.[lastAppliedKey()];
  if (text === undefined) return undefined;
  try {
    const configuration: ApiObject = JSON.parse(text);
    return configuration;
  } catch (error) {
    throw new CliError(
      `annotation ${lastAppliedKey()} of ${live.metadata?.name} is not JSON: ${String(error)}`,
    );
  }
}

function missingWarning(live: ApiObject): string {
  const resource = `${live.kind?.toLowerCase()}s/${live.metadata?.name}`;
  return `resource ${resource} is missing the ${lastAppliedKey()} annotation, which apply needs to detect removed fields; it is added now`;
}

/** An API object as plain JSON. Empty if there is none. */
function jsonOf(object: ApiObject | undefined): JsonObject {
  return isJsonObject(object) ? object : {};
}
