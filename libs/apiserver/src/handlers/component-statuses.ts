/** Reads of component statuses, which are made when they are asked for: of leases, and of the store itself. */
import { componentStatus, electedComponents, electedStatus, storeComponent } from '@orch/api';
import { notFound } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { type Entry, StoreError } from '@orch/store';
import type { Lease } from '@orch/types/coordination/v1';
import type { ComponentStatus } from '@orch/types/core/v1';
import { componentCheckTimeoutMs } from '../limits.js';
import { objectOf } from '../registry/entry-view.js';
import { detachedEntry } from '../registry/object-bytes.js';
import { timeLeftMs } from '../registry/registry-parts.js';
import { parseSelection } from '../registry/selection.js';
import { parseListRequest } from '../request/list-options.js';
import { checkViewFits, contentTypeOf } from '../request/media-types.js';
import { encodeList } from '../response/encode-list.js';
import { sendGathered } from '../response/gather.js';
import { type Call, objectRepresentation, sendObject, viewOptions } from './call.js';

export async function handleComponentStatuses(call: Call): Promise<void> {
  const { parts, served, info, query } = call;
  const isList = info.verb === 'list';
  const representation = objectRepresentation(call);
  checkViewFits(representation, isList);
  const options = viewOptions(call, representation);
  const names = [...electedComponents, storeComponent];
  if (!isList) {
    if (!names.some((name) => name === info.name)) throw notFound(served.groupResource, info.name);
    return sendObject(call, 200, entryOf(call, await statusOf(call, info.name)), options);
  }
  const request = parseListRequest(query, parts.features.enabled('APIListChunking'));
  const selection = parseSelection(served, request.labelSelector, request.fieldSelector);
  const statuses = await Promise.all(names.map((name) => statusOf(call, name)));
  const entries = statuses
    .map((status) => entryOf(call, status))
    .filter((entry) => selection.everything || selection.matches(entry));
  const revision = parts.store.revision();
  const outcome = { entries, revision, continueToken: '', remainingCount: undefined };
  const gathered = await encodeList(served, outcome, options);
  const leftMs = timeLeftMs(parts, call.deadlineMs);
  return sendGathered(call.exchange, contentTypeOf(representation.format), gathered, leftMs);
}

function entryOf({ served: { resource } }: Call, status: ComponentStatus): Entry {
  return detachedEntry(resource, status, resource.key('', status.metadata?.name ?? ''));
}

async function statusOf(call: Call, name: string): Promise<ComponentStatus> {
  const isStore = name === storeComponent;
  const [namespace, leaseName] = [dialect().systemNamespace, dialect().systemName(name)];
  const leases = call.parts.table.stored('coordination', 'leases');
  if (!leases) throw new Error('leases are not known');
  const kind = isStore ? 'quorum' : 'any';
  try {
    const { entry } = await call.parts.store.get(leases.key(namespace, leaseName), {
      consistency: { kind },
      timeoutMs: Math.min(componentCheckTimeoutMs, timeLeftMs(call.parts, call.deadlineMs)),
    });
    if (isStore) return componentStatus(name, '{"health":"true"}', '');
    const lease = entry && (objectOf(entry) as Lease);
    return electedStatus(name, `${namespace}/${leaseName}`, lease, call.parts.clock.nowMs());
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return componentStatus(name, '', error.message);
  }
}
