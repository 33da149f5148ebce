/** One entry of the audit log and its encodings: one line of JSON, or the legacy text line. */
import type { Status } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Event } from '@orch/types/audit/v1';

/** The interface's event, with objects as JSON texts that are written unchanged. */
export interface AuditEvent
  extends Omit<
    Event,
    'apiVersion' | 'kind' | 'requestObject' | 'responseObject' | 'responseStatus'
  > {
  /** With an empty `metadata`, which is always written. */
  readonly responseStatus?: Partial<Status> & { readonly metadata: object };
  readonly requestObject?: string | undefined;
  readonly responseObject?: string | undefined;
}

/** One line, without its line feed. */
export function jsonOf(event: AuditEvent): string {
  return encoded(event, { kind: 'Event', apiVersion: dialect().apiVersion('audit', 'v1') });
}

/** Items of a list do not repeat its type. */
export function jsonListOf(events: readonly AuditEvent[]): string {
  const apiVersion = dialect().apiVersion('audit', 'v1');
  const items = events.map((event) => encoded(event, {})).join(',');
  return `{"kind":"EventList","apiVersion":"${apiVersion}","metadata":{},"items":[${items}]}`;
}

function encoded(event: AuditEvent, type: object): string {
  const {
    requestObject,
    responseObject,
    requestReceivedTimestamp,
    stageTimestamp,
    annotations,
    ...front
  } = event;
  const head = JSON.stringify({ ...type, ...front });
  const end = JSON.stringify({ requestReceivedTimestamp, stageTimestamp, annotations });
  const objects = [
    requestObject !== undefined ? `"requestObject":${requestObject},` : '',
    responseObject !== undefined ? `"responseObject":${responseObject},` : '',
  ].join('');
  return `${head.slice(0, -1)},${objects}${end.slice(1)}`;
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
