/**
 * The audit record of one request: filled in while the request is processed, emitted as an event at
 * each stage. Nothing is retained beyond the level of the policy: below `Request` no request body,
 * below `RequestResponse` no response body.
 */
import { formatMicroTime } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { ServedResource } from '@orch/registry';
import type { Decision, User } from '@orch/security';
import type { ObjectReference } from '@orch/types/audit/v1';
import type { AnyStatus, AuditSink } from '../http/audit-sink.js';
import type { RequestInfo } from '../http/request-info.js';
import { jsonOfBody, jsonOfResponse } from './bodies.js';
import type { AuditEvent } from './event.js';
import type { AuditDecision, AuditStage } from './policy.js';
import { userInfo } from './user-info.js';

/** The part of the event that is available when the request arrives. */
export type RequestAttributes = Pick<
  AuditEvent,
  'auditID' | 'requestURI' | 'verb' | 'user' | 'sourceIPs' | 'userAgent'
>;

export interface AuditRecordOptions {
  readonly decision: AuditDecision;
  readonly attributes: RequestAttributes;
  readonly info: RequestInfo;
  readonly mediaType: string;
  readonly isLongRunning: boolean;
  readonly nowMs: () => number;
  /** Undefined: the request need not wait for the event. */
  readonly emit: (event: AuditEvent) => Promise<void> | undefined;
}

type MutableReference = { -readonly [K in keyof ObjectReference]: ObjectReference[K] };

export class AuditRecord implements AuditSink {
  private readonly receivedAt: string;
  private readonly annotations: Record<string, string> = {};
  private impersonatedUser: AuditEvent['impersonatedUser'];
  private reference: MutableReference | undefined;
  private requestObject: string | undefined;
  private responseObject: string | undefined;
  private status: AnyStatus | undefined;
  private isStarted = false;
  private isPanic = false;
  private lastStage: AuditStage = 'ResponseComplete';

  constructor(private readonly options: AuditRecordOptions) {
    this.receivedAt = formatMicroTime(options.nowMs());
    this.reference = referenceOf(options.info);
  }

  get recordsResponse(): boolean {
    const { decision, info } = this.options;
    return decision.level === 'RequestResponse' && info.isResource;
  }

  /** Emitted before any other work. Rejects if the request must not continue without its event. */
  received(): Promise<void> | undefined {
    return this.emit('RequestReceived');
  }

  impersonated(user: User): void {
    this.impersonatedUser = userInfo(user);
  }

  authorized({ verdict, reason }: Decision): void {
    const group = dialect().group('authorization');
    this.annotations[`${group}/decision`] = verdict === 'allow' ? 'allow' : 'forbid';
    this.annotations[`${group}/reason`] = reason;
  }

  /** The first value of a key counts. */
  annotate(key: string, value: string, level: 'Metadata' | 'Request'): void {
    if (level === 'Request' && this.options.decision.level === 'Metadata') return;
    if (!Object.hasOwn(this.annotations, key)) this.annotations[key] = value;
  }

  /** Annotates requests to deprecated versions. */
  servedBy({ served }: ServedResource): void {
    if (!served.deprecation) return;
    const { groupDomain } = dialect();
    const { unavailableFrom } = served.deprecation;
    this.annotations[`${groupDomain}/deprecated`] = 'true';
    if (unavailableFrom !== undefined) {
      this.annotations[`${groupDomain}/removed-release`] = unavailableFrom;
    }
  }

  bodyRead(body: Buffer): void {
    const { info, decision, mediaType } = this.options;
    if (!info.isResource) return;
    const namesObject = info.verb === 'create' || info.verb === 'update';
    if (!namesObject && decision.level === 'Metadata') return;
    const text = jsonOfBody(body, mediaType);
    if (text === undefined) return;
    if (namesObject) this.nameObject(JSON.parse(text) as SentObject | null);
    if (decision.level !== 'Metadata') this.requestObject = text;
  }

  responded(body: Buffer, mediaType: string): void {
    if (this.recordsResponse) this.responseObject = jsonOfResponse(body, mediaType);
  }

  respondedStatus(status: AnyStatus): void {
    this.status = status;
  }

  /** Only long-running requests emit an event at the head of their response. */
  started(statusCode: number): void {
    if (this.isStarted || !this.options.isLongRunning) return;
    this.isStarted = true;
    void this.emit('ResponseStarted', statusCode);
  }

  /** The last stage is `Panic`. */
  panicked(): void {
    this.isPanic = true;
  }

  completed(statusCode: number): void {
    void this.emit(this.isPanic ? 'Panic' : this.lastStage, statusCode);
  }

  /** A request without a user has a single stage: the response. */
  ofUnknownUser(): this {
    this.lastStage = 'ResponseStarted';
    return this;
  }

  /** Adds the name, uid and version in the body to the reference from the path. */
  private nameObject(sent: SentObject | null): void {
    const { reference } = this;
    if (!reference || typeof sent?.metadata !== 'object' || sent.metadata === null) return;
    for (const field of ['namespace', 'name', 'uid', 'resourceVersion'] as const) {
      const value = sent.metadata[field];
      if (typeof value === 'string' && value !== '') reference[field] ??= value;
    }
  }

  private emit(stage: AuditStage, statusCode?: number): Promise<void> | undefined {
    const { decision, attributes, nowMs, emit } = this.options;
    if (decision.omitStages.has(stage)) return undefined;
    return emit({
      level: decision.level,
      auditID: attributes.auditID,
      stage,
      requestURI: attributes.requestURI,
      verb: attributes.verb,
      user: attributes.user,
      ...(this.impersonatedUser && { impersonatedUser: this.impersonatedUser }),
      ...(attributes.sourceIPs && { sourceIPs: attributes.sourceIPs }),
      ...(attributes.userAgent && { userAgent: attributes.userAgent }),
      ...(this.reference && { objectRef: { ...this.reference } }),
      ...(statusCode !== undefined && { responseStatus: this.statusOf(statusCode) }),
      requestObject: this.requestObject,
      responseObject: this.responseObject,
      requestReceivedTimestamp: this.receivedAt,
      stageTimestamp: formatMicroTime(nowMs()),
      ...(Object.keys(this.annotations).length > 0 && { annotations: { ...this.annotations } }),
    });
  }

  private statusOf(code: number): NonNullable<AuditEvent['responseStatus']> {
    const { status, reason } = this.status ?? {};
    // Message and details have no limit; they are in the response object, if that is recorded.
    return {
      metadata: {},
      ...(status !== undefined && { status }),
      ...(reason !== undefined && { reason }),
      code,
    };
  }
}

interface SentObject {
  readonly metadata?: Readonly<Record<string, unknown>> | null;
}

function referenceOf(info: RequestInfo): MutableReference | undefined {
  if (!info.isResource) return undefined;
  const { resource, namespace, name, group, version, subresource } = info;
  return {
    resource,
    ...(namespace !== '' && { namespace }),
    ...(name !== '' && { name }),
    ...(group !== '' && { apiGroup: group }),
    apiVersion: version,
    ...(subresource !== '' && { subresource }),
  };
}
