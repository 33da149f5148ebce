/**
 * The API services of what this server answers itself, made at its first start and put right at every other;
 * and, for all there are, whether they can be used.
 */
import {
  availabilityCondition,
  customApiService,
  isCustomApiService,
  localApiService,
} from '@orch/api';
import { formatTime, semanticallyEqual } from '@orch/apimachinery';
import type { Logger } from '@orch/component';
import type { Entry } from '@orch/store';
import type { APIService } from '@orch/types/apiregistration/v1';
import type { Endpoints, Service } from '@orch/types/core/v1';
import { upkeepTimeoutMs } from '../limits.js';
import { objectOf } from '../registry/entry-view.js';
import type { RegistryParts, WriteContext } from '../registry/registry-parts.js';
import { timeLeftMs } from '../registry/registry-parts.js';
import {
  changeObject,
  dropObject,
  ensureObject,
  servedKind,
  storedEntries,
  systemContext,
} from './ensure-object.js';
import { Upkeep } from './upkeep.js';

const groupHead = 'apiregistration';
const plural = 'apiservices';

/** Rejects with StoreError or StatusError when the store takes no writes: try again later. */
export async function registerLocalServices(parts: RegistryParts): Promise<void> {
  const context = systemContext(parts, upkeepTimeoutMs);
  const { resource } = servedKind(parts, plural, groupHead);
  const stored = new Map(
    (await storedEntries(parts, resource.keyPrefix, context)).map((entry) => [entry.key, entry]),
  );
  const versions = new Map(
    parts.table.served
      .filter(({ definition }) => !definition.custom)
      .map(({ apiVersion, served }) => [apiVersion, served] as const),
  );
  // All at once: the store commits them together.
  await Promise.all(
    [...versions.values()].map(async ({ group, version }) => {
      const wanted = localApiService(group, version);
      if (!wanted) return;
      const name = wanted.metadata?.name ?? '';
      const entry = stored.get(resource.key('', name));
      if (!entry) {
        await ensureObject(parts, context, plural, '', wanted, groupHead);
      } else if (!semanticallyEqual((objectOf(entry) as APIService).spec, wanted.spec)) {
        await changeObject(parts, context, { plural, groupHead, name }, (fresh: APIService) => {
          fresh.spec = wanted.spec!;
        });
      }
    }),
  );
}

export function apiServiceUpkeep(parts: RegistryParts, logger: Logger): Upkeep {
  const prefixes = [
    servedKind(parts, plural, groupHead),
    servedKind(parts, 'services'),
    servedKind(parts, 'endpoints'),
    servedKind(parts, 'customresourcedefinitions', 'apiextensions'),
  ].map(({ resource }) => resource.keyPrefix);
  const round = async () => {
    await followCustomVersions(parts);
    await tellAvailability(parts);
    return undefined;
  };
  return new Upkeep(parts, { name: 'API services', prefixes, round }, logger);
}

/** A service for each version of custom resources that is served, none for those that no longer are. */
async function followCustomVersions(parts: RegistryParts): Promise<void> {
  const context = systemContext(parts, upkeepTimeoutMs);
  const { table } = parts;
  const { resource } = servedKind(parts, plural, groupHead);
  const wanted = new Map<string, APIService>();
  for (const { group, version, definition } of table.served) {
    if (!definition.custom || table.hasBuiltInGroup(group)) continue;
    wanted.set(`${version}.${group}`, customApiService(group, version));
  }
  const stored = await storedEntries(parts, resource.keyPrefix, context);
  for (const entry of stored) {
    const name = resource.nameOfKey(entry.key);
    if (wanted.delete(name) || !isCustomApiService(objectOf(entry) as APIService)) continue;
    await dropObject(parts, context, { plural, groupHead, name });
  }
  for (const service of wanted.values()) {
    await ensureObject(parts, context, plural, '', service, groupHead);
  }
}

async function tellAvailability(parts: RegistryParts): Promise<void> {
  const context = systemContext(parts, upkeepTimeoutMs);
  const { resource } = servedKind(parts, plural, groupHead);
  const now = formatTime(parts.clock.nowMs());
  for (const entry of await storedEntries(parts, resource.keyPrefix, context)) {
    const object = objectOf(entry) as APIService;
    const { service } = object.spec ?? {};
    const read = async <T>(kind: string) => {
      if (!service) return undefined;
      const found = await readNamed(parts, context, kind, service.namespace, service.name);
      return found && (objectOf(found) as T);
    };
    const condition = availabilityCondition(
      object,
      await read<Service>('services'),
      await read<Endpoints>('endpoints'),
      now,
    );
    if (!condition) continue;
    const target = { plural, groupHead, name: object.metadata?.name ?? '' };
    const change = (fresh: APIService) => {
      const others = (fresh.status?.conditions ?? []).filter(({ type }) => type !== condition.type);
      fresh.status = { ...fresh.status, conditions: [...others, condition] };
    };
    await changeObject(parts, context, target, change, 'status');
  }
}

async function readNamed(
  parts: RegistryParts,
  context: WriteContext,
  kind: string,
  namespace = '',
  name = '',
): Promise<Entry | undefined> {
  const { entry } = await parts.store.get(servedKind(parts, kind).resource.key(namespace, name), {
    consistency: { kind: 'any' },
    timeoutMs: timeLeftMs(parts, context.deadlineMs),
  });
  return entry;
}
