/** Computes the files of config map, secret, downward API and projected volumes. Writes nothing. */
import { posix } from 'node:path';
import type { KeyToPath, Pod, Volume, VolumeProjection } from '@orch/types/core/v1';
import type { AccountTokens } from '../environment/account-tokens.js';
import {
  containersOf,
  type NodeAllocatable,
  type PodAddresses,
  podField,
  resourceField,
} from '../environment/pod-fields.js';
import { BrokenReference, type ReferencedObjects } from '../environment/referenced-objects.js';
import type { VolumeFile } from './atomic-directory.js';

export interface ProjectionContext {
  readonly pod: Pod;
  readonly addresses: PodAddresses;
  readonly allocatable: NodeAllocatable;
  readonly objects: ReferencedObjects;
  readonly accountTokens: AccountTokens;
}

/**
 * Returns files by path; undefined for other kinds of volumes. Throws `BrokenReference` for missing
 * objects.
 */
export async function projectedFiles(
  volume: Volume,
  context: ProjectionContext,
): Promise<ReadonlyMap<string, VolumeFile> | undefined> {
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap) return collect([{ configMap }], configMap.defaultMode, context);
  if (secret) {
    const { secretName, items, optional } = secret;
    return collect(
      [{ secret: { name: secretName, items, optional } }],
      secret.defaultMode,
      context,
    );
  }
  if (downwardAPI) return collect([{ downwardAPI }], downwardAPI.defaultMode, context);
  if (projected) return collect(projected.sources ?? [], projected.defaultMode, context);
  return undefined;
}

async function collect(
  sources: readonly VolumeProjection[],
  defaultMode = 0o644,
  context: ProjectionContext,
): Promise<ReadonlyMap<string, VolumeFile>> {
  const namespace = context.pod.metadata?.namespace ?? '';
  const files = new Map<string, VolumeFile>();
  const addAll = (
    entries: ReadonlyMap<string, Buffer>,
    items: readonly KeyToPath[] | undefined,
    optional: boolean | undefined,
    what: string,
  ) => {
    const wanted = items?.length
      ? items
      : [...entries.keys()].map((key): KeyToPath => ({ key, path: key }));
    for (const { key, path, mode } of wanted) {
      const content = entries.get(key);
      if (content !== undefined) files.set(checkPath(path), { content, mode: mode ?? defaultMode });
      else if (!optional) throw new BrokenReference(`${what} references non-existent key: ${key}`);
    }
  };
  for (const { configMap, secret, downwardAPI, serviceAccountToken } of sources) {
    if (serviceAccountToken) {
      const token = await context.accountTokens.token(context.pod, serviceAccountToken);
      const content = Buffer.from(token, 'utf8');
      files.set(checkPath(serviceAccountToken.path), {
        content,
        ...access(context.pod, defaultMode),
      });
    }
    if (configMap) {
      const { name = '', items, optional } = configMap;
      const found = await context.objects.configMap(namespace, name);
      if (!found && !optional) throw new BrokenReference(`configmap "${name}" not found`);
      const entries = new Map<string, Buffer>();
      for (const [key, value] of Object.entries(found?.data ?? {})) {
        entries.set(key, Buffer.from(value, 'utf8'));
      }
      for (const [key, value] of Object.entries(found?.binaryData ?? {})) {
        entries.set(key, Buffer.from(value, 'base64'));
      }
      addAll(entries, items, optional, 'configmap');
    }
    if (secret) {
      const { name = '', items, optional } = secret;
      const found = await context.objects.secret(namespace, name);
      if (!found && !optional) throw new BrokenReference(`secret "${name}" not found`);
      const entries = Object.entries(found?.data ?? {}).map(
        ([key, value]) => [key, Buffer.from(value, 'base64')] as const,
      );
      addAll(new Map(entries), items, optional, 'secret');
    }
    for (const item of downwardAPI?.items ?? []) {
      const content = Buffer.from(downwardValue(item, context), 'utf8');
      files.set(checkPath(item.path), { content, mode: item.mode ?? defaultMode });
    }
  }
  return files;
}

/**
 * Returns the permissions of a token: only for the user of the containers, unless they have
 * different users.
 */
function access(pod: Pod, defaultMode: number): Pick<VolumeFile, 'mode' | 'owner'> {
  const podUser = pod.spec?.securityContext?.runAsUser;
  const users = new Set(
    containersOf(pod).map(({ securityContext }) => securityContext?.runAsUser ?? podUser),
  );
  if (users.size !== 1) return { mode: defaultMode };
  const [owner] = users;
  return { mode: 0o600, ...(owner !== undefined && { owner }) };
}

function downwardValue(
  item: NonNullable<NonNullable<VolumeProjection['downwardAPI']>['items']>[number],
  { pod, addresses, allocatable }: ProjectionContext,
): string {
  const { fieldRef, resourceFieldRef } = item;
  if (fieldRef) {
    const value = podField(pod, fieldRef.fieldPath, addresses);
    if (value === undefined) {
      throw new BrokenReference(`unsupported field path "${fieldRef.fieldPath}"`);
    }
    return value;
  }
  const container = containersOf(pod).find(({ name }) => name === resourceFieldRef?.containerName);
  const value =
    container && resourceFieldRef && resourceField(container, resourceFieldRef, allocatable);
  if (value === undefined) {
    throw new BrokenReference(`unsupported resource of downward API file "${item.path}"`);
  }
  return value;
}

function checkPath(path: string): string {
  const normal = posix.normalize(path);
  if (posix.isAbsolute(normal) || normal.split('/')[0]!.startsWith('..')) {
    throw new BrokenReference(`"${path}" is not a path inside a volume`);
  }
  return normal;
}
