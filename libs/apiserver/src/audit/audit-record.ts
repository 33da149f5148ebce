/**
 * What the audit log says of one request: filled in while the request goes through the pipeline, told at
 * each of its stages. Nothing is kept beyond the level of the policy: below `Request` no body, below
 * `RequestResponse` no answer.
 */
import { formatMicroTime } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { ObjectReference } from '@orch/types/audit/v1';
import type { ServedResource } from '../registry/resource.js';
import type { RequestInfo } from '../request/request-info.js';
import type { AnyStatus } from '../response/status.js';
import { jsonOfAnswer, jsonOfBody } from './bodies.js';
import type { AuditEvent } from './event.js';
import type { AuditDecision, AuditStage } from './policy.js';

/** What is known of a request when it comes. */
export type RequestFacts = Pick<
  AuditEvent,
  'auditID' | 'requestURI' | 'verb' | 'user' | 'sourceIPs' | 'userAgent'
>;

export interface RecordSettings {
  readonly decision: AuditDecision;
  readonly facts: RequestFacts;
  readonly info: RequestInfo;
  readonly mediaType: string;
  readonly isLong: boolean;
  readonly nowMs: () => number;
  /** Undefined where nobody need wait for it. */
  readonly tell: (event: AuditEvent) => Promise<void> | undefined;
}

type MutableReference = { -readonly [K in keyof ObjectReference]: ObjectReference[K] };

export class AuditRecord {
  private readonly receivedAt: string;
  private readonly annotations: Record<string, string> = {};
  private reference: MutableReference | undefined;
  private requestObject: string | undefined;
  private responseObject: string | undefined;
  private status: AnyStatus | undefined;
  private isStarted = false;
  private isPanic = false;
  private lastStage: AuditStage = 'ResponseComplete';

  constructor(private readonly settings: RecordSettings) {
    this.receivedAt = formatMicroTime(settings.nowMs());
    this.reference = referenceOf(settings.info);
  }

  /** Whether the answer itself is recorded, so that it is worth being put together. */
  get takesAnswer(): boolean {
    const { decision, info } = this.settings;
    return decision.level === 'RequestResponse' && info.isResource;
  }

  /** Before anything is done. Rejects when the request may not go on without its event. */
  received(): Promise<void> | undefined {
    return this.tell('RequestReceived');
  }

  authorized(allowed: boolean, reason: string): void {
    const group = dialect().group('authorization');
    this.annotations[`${group}/decision`] = allowed ? 'allow' : 'forbid';
    this.annotations[`${group}/reason`] = reason;
  }

  /** Of a version that a later release no longer has. */
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
    const { info, decision, mediaType } = this.settings;
    if (!info.isResource) return;
    const namesObject = info.verb === 'create' || info.verb === 'update';
    if (!namesObject && decision.level === 'Metadata') return;
    const text = jsonOfBody(body, mediaType);
    if (text === undefined) return;
    if (namesObject) this.nameObject(JSON.parse(text) as SentObject | null);
    if (decision.level !== 'Metadata') this.requestObject = text;
  }

  answered(body: Buffer, mediaType: string): void {
    if (this.takesAnswer) this.responseObject = jsonOfAnswer(body, mediaType);
  }

  answeredStatus(status: AnyStatus): void {
    this.status = status;
  }

  /** The head of the answer is written. Only what goes on for long tells of it. */
  started(statusCode: number): void {
    if (this.isStarted || !this.settings.isLong) return;
    this.isStarted = true;
    void this.tell('ResponseStarted', statusCode);
  }

  /** The server did not know what to do: the last stage is `Panic`. */
  panicked(): void {
    this.isPanic = true;
  }

  /** The answer has ended. */
  completed(statusCode: number): void {
    void this.tell(this.isPanic ? 'Panic' : this.lastStage, statusCode);
  }

  /** Without a user nothing is begun: that it is answered is all there is to say. */
  ofUnknownUser(): this {
    this.lastStage = 'ResponseStarted';
    return this;
  }

  /** What the body adds to what the path says. */
  private nameObject(sent: SentObject | null): void {
    const { reference } = this;
    if (!reference || typeof sent?.metadata !== 'object' || sent.metadata === null) return;
    for (const field of ['namespace', 'name', 'uid', 'resourceVersion'] as const) {
      const value = sent.metadata[field];
      if (typeof value === 'string' && value !== '') reference[field] ??= value;
    }
  }

  private tell(stage: AuditStage, statusCode?: number): Promise<void> | undefined {
    const { decision, facts, nowMs, tell } = this.settings;
    if (decision.omitStages.has(stage)) return undefined;
    return tell({
      level: decision.level,
      auditID: facts.auditID,
      stage,
      requestURI: facts.requestURI,
      verb: facts.verb,
      user: facts.user,
      ...(facts.sourceIPs && { sourceIPs: facts.sourceIPs }),
      ...(facts.userAgent && { userAgent: facts.userAgent }),
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
    const { status, message, reason, details } = this.status ?? {};
    return {
      metadata: {},
      ...(status !== undefined && { status }),
      ...(message !== undefined && { message }),
      ...(reason !== undefined && { reason }),
      ...(details !== undefined && { details }),
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
