/**
 * Applies one object: creates it, or patches what differs. The configuration that was applied is kept in
 * an annotation, so that the next one knows which fields were ours.
 */

import type { JsonObject } from '@orch/apimachinery';
import {
  type ApiObject,
  isConflict,
  isNotFound,
  type PatchOptions,
  type ResourceClient,
} from '@orch/client';
import { dialect } from '@orch/component';
import type { ResourceType } from '../catalog.js';
import { CliError } from '../errors.js';
import type { PatchSchema } from './patch-schema.js';
import { threeWayPatch } from './three-way-patch.js';

export type DryRun = 'none' | 'client' | 'server';

export interface ApplySettings {
  readonly dryRun: DryRun;
  readonly fieldManager: string;
}

export interface Applied {
  readonly action: 'created' | 'configured' | 'unchanged';
  readonly object: ApiObject;
  /** For the user, beyond what was done. */
  readonly warning?: string;
}

/** Attempts when another writer changes the object between reading and patching it. */
const attemptCountMax = 5;

/** The annotation that holds what was applied last; its name is that of the other tools. */
export function lastAppliedKey(): string {
  return dialect().key('last-applied-configuration', 'kubectl');
}

/** The object with its own configuration as annotation. */
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
  settings: ApplySettings,
): Promise<Applied> {
  const wanted = withLastApplied(object);
  const name = object.metadata?.name;
  if (!name) throw new CliError(`${type.kind} has no name: apply needs one to know the object by`);
  for (let attempt = 1; ; attempt++) {
    const live = await client.get(name).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (!live) return create(wanted, client, settings);
    try {
      return await change(wanted, live, client, schema, settings);
    } catch (error) {
      if (!isConflict(error) || attempt >= attemptCountMax) throw error;
    }
  }
}

async function create(
  wanted: ApiObject,
  client: ResourceClient<ApiObject>,
  settings: ApplySettings,
): Promise<Applied> {
  if (settings.dryRun === 'client') return { action: 'created', object: wanted };
  const object = await client.create(wanted, writeOptions(settings));
  return { action: 'created', object };
}

async function change(
  wanted: ApiObject,
  live: ApiObject,
  client: ResourceClient<ApiObject>,
  schema: PatchSchema | undefined,
  settings: ApplySettings,
): Promise<Applied> {
  const last = lastApplied(live);
  const patch = threeWayPatch(
    (last ?? {}) as JsonObject,
    wanted as JsonObject,
    live as JsonObject,
    schema,
  );
  const warning = last === undefined ? missingWarning(live) : undefined;
  if (!patch) return { action: 'unchanged', object: live };
  if (settings.dryRun === 'client') return { action: 'configured', object: live, warning };
  const options: PatchOptions = {
    type: schema ? 'strategic' : 'merge',
    ...writeOptions(settings),
  };
  const object = await client.patch(live.metadata?.name ?? '', patch, options);
  const same = object.metadata?.resourceVersion === live.metadata?.resourceVersion;
  return {
    action: same && settings.dryRun === 'none' ? 'unchanged' : 'configured',
    object,
    warning,
  };
}

function writeOptions({ dryRun, fieldManager }: ApplySettings) {
  return { dryRun: dryRun === 'server', fieldManager };
}

/** Undefined when the object was not made by apply. */
function lastApplied(live: ApiObject): ApiObject | undefined {
  const text = live.metadata?.annotations?.[lastAppliedKey()];
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as ApiObject;
  } catch (error) {
    throw new CliError(
      `annotation ${lastAppliedKey()} of ${live.metadata?.name} is not JSON: ${String(error)}`,
    );
  }
}

function missingWarning(live: ApiObject): string {
  const what = `${live.kind?.toLowerCase()}s/${live.metadata?.name}`;
  return `resource ${what} is missing the ${lastAppliedKey()} annotation, which apply needs to see what was removed; it is added now`;
}
