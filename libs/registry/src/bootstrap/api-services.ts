/**
 * The API services of the groups that this server serves itself: those of built-in groups are
 * created at the first start and repaired at every other, those of custom resources follow the
 * definitions.
 */
import { customApiService, isCustomApiService, isReplaced, localApiService } from '@orch/api';
import { semanticallyEqual } from '@orch/apimachinery';
import type { Logger } from '@orch/component';
import type { APIService } from '@orch/types/apiregistration/v1';
import { objectOf } from '../objects/entry-view.js';
import { Reconciler } from '../reconciling/reconciler.js';
import { type KindName, SystemObjectsWriter } from '../reconciling/system-objects-writer.js';
import type { Registry } from '../store/registry.js';

const apiServices: KindName = { plural: 'apiservices', groupHead: 'apiregistration' };
const definitions: KindName = {
  plural: 'customresourcedefinitions',
  groupHead: 'apiextensions',
};

/** Rejects with StoreError or StatusError while the store takes no writes: retry later. */
export async function registerLocalServices(registry: Registry): Promise<void> {
  const writer = new SystemObjectsWriter(registry);
  const { resource } = writer.store(apiServices).served;
  const stored = await writer.entries(apiServices);
  const versions = new Map(
    registry.table.served
      .filter(({ definition }) => !definition.custom)
      .map(({ apiVersion, served }) => [apiVersion, served] as const),
  );
  // Concurrently: the store commits them together.
  await Promise.all(
    [...versions.values()].map(async ({ group, version }) => {
      const wanted = localApiService(group, version);
      if (!wanted) return;
      const name = wanted.metadata?.name ?? '';
      const entry = stored.get(resource.key('', name));
      if (!entry) {
        await writer.ensure(apiServices, wanted);
        return;
      }
      const current = objectOf<APIService>(entry);
      if (!isReplaced(current) && !semanticallyEqual(current.spec, wanted.spec)) {
        await writer.change(apiServices, { namespace: '', name }, (fresh: APIService) => {
          if (!isReplaced(fresh)) fresh.spec = wanted.spec!;
        });
      }
    }),
  );
}

export function apiServiceReconciler(registry: Registry, logger: Logger): Reconciler {
  const prefixes = [apiServices, definitions].map(
    ({ plural, groupHead }) => registry.storeOf(plural, groupHead).served.resource.keyPrefix,
  );
  const round = async () => {
    await reconcileCustomVersions(new SystemObjectsWriter(registry));
    return undefined;
  };
  const { rawStore: store, clock } = registry;
  return new Reconciler({ store, clock, logger }, { name: 'API services', prefixes, round });
}

/**
 * Every served version of custom resources has an API service, versions no longer served have none.
 */
async function reconcileCustomVersions(writer: SystemObjectsWriter): Promise<void> {
  const { table } = writer.registry;
  const { resource } = writer.store(apiServices).served;
  const wanted = new Map<string, APIService>();
  for (const { group, version, definition } of table.served) {
    if (!definition.custom || table.hasBuiltInGroup(group)) continue;
    wanted.set(`${version}.${group}`, customApiService(group, version));
  }
  for (const [key, entry] of await writer.entries(apiServices)) {
    const name = resource.nameOfKey(key);
    if (wanted.delete(name) || !isCustomApiService(objectOf<APIService>(entry))) continue;
    await writer.drop(apiServices, { namespace: '', name });
  }
  for (const service of wanted.values()) await writer.ensure(apiServices, service);
}
