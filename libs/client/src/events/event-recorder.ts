/** Records Events about objects: aggregated, de-duplicated, limited, written in the background. */
import type { Clock, Logger } from '@orch/component';
import type { ApiObject } from '../objects.js';
import type { RestClient } from '../rest/rest-client.js';

export type EventType = 'Normal' | 'Warning';

/** The object an event is about; `fieldPath` as in `spec.containers{web}`. */
export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

export interface EventRecorderOptions {
  client: RestClient;
  /** `source.component` of the events, such as `deployment-controller`. */
  component: string;
  /** `source.host`: of node agents, the node. */
  host?: string;
  logger: Logger;
  clock?: Clock;
}

export declare class EventRecorder {
  constructor(options: EventRecorderOptions);
  /** Never throws and never waits. An object needs apiVersion and kind, or be given as a reference. */
  event(
    regarding: ObjectReference | ApiObject,
    type: EventType,
    reason: string,
    message: string,
  ): void;
  /** Writes what is queued, for at most `timeoutMs`, then stops. */
  stop(timeoutMs?: number): Promise<void>;
}
