/** The events about an object, as the last table of its description. */
import { ageCell } from '@orch/apimachinery';
import { type ApiObject, resources } from '@orch/client';
import type { Event } from '@orch/types/core/v1';
import type { Session } from '../session/session.js';
import type { Description } from './description.js';

/** Number of events in a description: the newest ones. */
const eventCountMax = 50;

export async function describeEvents(
  description: Description,
  object: ApiObject,
  session: Session,
): Promise<void> {
  const { uid, namespace, name } = object.metadata ?? {};
  const isNode = object.kind === 'Node' && object.apiVersion === 'v1';
  // Node agents record events about nodes under the name instead of the uid.
  const fieldSelector = isNode
    ? `involvedObject.kind=Node,involvedObject.name=${name}`
    : `involvedObject.uid=${uid}`;
  const { items } = await session.client
    .resource(resources.events, namespace)
    .listAll({ fieldSelector });
  const nowMs = Date.now();
  const rows = items
    .sort((a, b) => (lastSeen(a) < lastSeen(b) ? -1 : 1))
    .slice(-eventCountMax)
    .map((event) => [
      event.type ?? '',
      event.reason ?? '',
      whenText(event, nowMs),
      event.source?.component || event.reportingComponent || '',
      (event.message ?? '').trim(),
    ]);
  description.table('Events', [['Type', 'Reason', 'Age', 'From', 'Message'], ...rows]);
}

function lastSeen(event: Event): string {
  return (
    event.series?.lastObservedTime ??
    event.lastTimestamp ??
    event.eventTime ??
    event.metadata?.creationTimestamp ??
    ''
  );
}

function whenText(event: Event, nowMs: number): string {
  const count = event.series?.count ?? event.count ?? 1;
  const age = ageCell(lastSeen(event), nowMs);
  const first = event.firstTimestamp ?? event.eventTime ?? event.metadata?.creationTimestamp;
  return count > 1 ? `${age} (x${count} over ${ageCell(first, nowMs)})` : age;
}
