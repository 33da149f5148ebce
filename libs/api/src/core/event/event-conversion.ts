/**
 * Converts Event between its two shapes: the stored one of the core group and the one of the events
 * group. The same fields have other names; lossless in both directions.
 */
import { knownKeys } from '@orch/component';
import type { Event } from '@orch/types/core/v1';
import type { Event as NewEvent } from '@orch/types/events/v1';
import type { ApiObject } from '../../definition.js';

export function eventToStored(object: NewEvent): Event {
  const {
    regarding,
    note,
    deprecatedSource,
    deprecatedFirstTimestamp,
    deprecatedLastTimestamp,
    deprecatedCount,
    reportingController,
    ...same
  } = object;
  return withoutUndefined({
    ...same,
    metadata: same.metadata ?? {},
    involvedObject: regarding ?? {},
    message: note,
    source: deprecatedSource,
    firstTimestamp: deprecatedFirstTimestamp,
    lastTimestamp: deprecatedLastTimestamp,
    count: deprecatedCount,
    reportingComponent: reportingController,
  });
}

export function eventFromStored(object: Event): ApiObject {
  const {
    involvedObject,
    message,
    source,
    firstTimestamp,
    lastTimestamp,
    count,
    reportingComponent,
    series,
    ...same
  } = object;
  const converted: NewEvent = withoutUndefined({
    ...same,
    series: series && { ...series, count: series.count ?? 0 },
    regarding: involvedObject,
    note: message,
    deprecatedSource: source,
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedCount: count,
    reportingController: reportingComponent,
  });
  return converted;
}

function withoutUndefined<T extends object>(object: T): T {
  for (const key of knownKeys(object)) {
    if (object[key] === undefined) delete object[key];
  }
  return object;
}
