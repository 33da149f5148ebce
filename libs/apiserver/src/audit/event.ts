/** One entry of the audit log, and its texts: one line of JSON, or the older line for people. */
import type { Status } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Event } from '@orch/types/audit/v1';

/** What the interface calls an event, with the objects as JSON texts that are written as they are. */
export interface AuditEvent
  extends Omit<
    Event,
    'apiVersion' | 'kind' | 'requestObject' | 'responseObject' | 'responseStatus'
  > {
  /** With an empty `metadata`, as it is always written. */
  readonly responseStatus?: Partial<Status> & { readonly metadata: object };
  readonly requestObject?: string | undefined;
  readonly responseObject?: string | undefined;
}

/** One line without its end. */
export function jsonOf(event: AuditEvent): string {
  const {
    requestObject,
    responseObject,
    requestReceivedTimestamp,
    stageTimestamp,
    annotations,
    ...front
  } = event;
  const begun = JSON.stringify({
    kind: 'Event',
    apiVersion: dialect().apiVersion('audit', 'v1'),
    ...front,
  });
  const end = JSON.stringify({ requestReceivedTimestamp, stageTimestamp, annotations });
  const objects = [
    requestObject !== undefined ? `"requestObject":${requestObject},` : '',
    responseObject !== undefined ? `"responseObject":${responseObject},` : '',
  ].join('');
  return `${begun.slice(0, -1)},${objects}${end.slice(1)}`;
}

export function jsonListOf(events: readonly AuditEvent[]): string {
  const apiVersion = dialect().apiVersion('audit', 'v1');
  const items = events.map(jsonOf).join(',');
  return `{"kind":"EventList","apiVersion":"${apiVersion}","metadata":{},"items":[${items}]}`;
}

const quoted = (text: string) => JSON.stringify(text);

const joined = (names: readonly string[]) => names.map(quoted).join(',');

/** The `legacy` format. */
export function legacyLineOf(event: AuditEvent): string {
  const { user, impersonatedUser, objectRef, responseStatus, sourceIPs = [] } = event;
  const groups = user.username && user.groups?.length ? joined(user.groups) : '<none>';
  const asGroups = impersonatedUser?.groups ? joined(impersonatedUser.groups) : '<lookup>';
  const fields = Object.entries({
    id: event.auditID,
    stage: event.stage,
    ip: sourceIPs[0] ?? '<unknown>',
    method: event.verb,
    user: user.username || '<none>',
    groups,
    as: impersonatedUser?.username ?? '<self>',
    asgroups: asGroups,
    'user-agent': event.userAgent ?? '',
    namespace: objectRef?.namespace || '<none>',
    uri: event.requestURI,
    response: responseStatus ? String(responseStatus.code) : '<deferred>',
  }).map(([name, value]) => `${name}=${quoted(value)}`);
  return `${event.requestReceivedTimestamp} AUDIT: ${fields.join(' ')}`;
}
