/** Reads of component statuses, computed from leases and from the store itself. */
import { componentStatus, electedComponents, electedStatus, storeComponent } from '@orch/api';
import { notFound } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import {
  detachedEntry,
  objectOf,
  parseSelection,
  type Registry,
  type ServedResource,
} from '@orch/registry';
import { type Entry, StoreError } from '@orch/store';
import type { Lease } from '@orch/types/coordination/v1';
import type { ComponentStatus } from '@orch/types/core/v1';
import type { RequestContext } from '../http/request-context.js';
import { componentCheckTimeoutMs } from '../limits.js';
import { contentTypeOf } from '../request/accept.js';
import { parseListRequest } from '../request/list-options.js';
import { listView, singleView } from '../request/representation.js';
import { encodeList } from '../response/encode-list.js';
import { sendGathered } from '../response/gather.js';
import { sendObject } from '../response/send-object.js';
import type { Handler } from './handler.js';

const names = [...electedComponents, storeComponent];

export function componentStatusHandler(registry: Registry): Handler {
  return async (context, { served }) => {
    if (context.info.verb === 'list') return listStatuses(registry, context, served);
    const { name } = context.info;
    const view = singleView(context);
    if (!names.some((known) => known === name)) throw notFound(served.groupResource, name);
    const entry = entryOf(served, await readStatus(registry, context, name));
    return sendObject(context, served, 200, entry, view);
  };
}

async function listStatuses(
  registry: Registry,
  context: RequestContext,
  served: ServedResource,
): Promise<void> {
  const { query, features } = context;
  const view = listView(context);
  const request = parseListRequest(query, features.enabled('APIListChunking'));
  const selection = parseSelection(served, request.labelSelector, request.fieldSelector);
  const statuses = await Promise.all(names.map((name) => readStatus(registry, context, name)));
  const entries = statuses
    .map((status) => entryOf(served, status))
    .filter((entry) => selection.everything || selection.matches(entry));
  const revision = registry.rawStore.revision();
  const list = { entries, revision, continueToken: '', remainingCount: undefined };
  const gathered = await encodeList(served, list, view);
  const contentType = contentTypeOf(view.representation.format);
  return sendGathered(context, contentType, gathered, context.timeLeftMs);
}

function entryOf({ resource }: ServedResource, status: ComponentStatus): Entry {
  return detachedEntry(resource, status, resource.key('', status.metadata?.name ?? ''));
}

async function readStatus(
  registry: Registry,
  context: RequestContext,
  name: string,
): Promise<ComponentStatus> {
  const isStore = name === storeComponent;
  const { systemNamespace: namespace } = dialect();
  const leaseName = dialect().systemName(name);
  const leases = registry.storeOf('leases', 'coordination').served.resource;
  try {
    // A quorum read shows that the store works; the lease itself may be read from memory.
    const { entry } = await registry.rawStore.get(leases.key(namespace, leaseName), {
      consistency: { kind: isStore ? 'quorum' : 'any' },
      timeoutMs: Math.min(componentCheckTimeoutMs, context.timeLeftMs),
    });
    if (isStore) return componentStatus(name, '{"health":"true"}', '');
    const lease = entry && objectOf<Lease>(entry);
    return electedStatus(name, `${namespace}/${leaseName}`, lease, context.nowMs);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return componentStatus(name, '', error.message);
  }
}
