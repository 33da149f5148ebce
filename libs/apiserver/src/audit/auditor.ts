/**
 * Decides what of each request is recorded and hands the events to the backends. A server without a policy
 * has no auditor, and its requests pay nothing.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '@orch/component';
import type { User } from '../authentication/user.js';
import { auditUserAgentLengthMax } from '../limits.js';
import type { RequestInfo } from '../request/request-info.js';
import type { Exchange } from '../response/exchange.js';
import type { AuditBackend } from './audit-backend.js';
import type { AuditMetrics } from './audit-metrics.js';
import { AuditRecord } from './audit-record.js';
import type { AuditEvent } from './event.js';
import type { AuditPolicy } from './policy.js';
import { sourceAddresses } from './source-addresses.js';

const idHeader = 'audit-id';
const cut = '...TRUNCATED';

export interface AuditorSettings {
  readonly policy: AuditPolicy;
  readonly backends: readonly AuditBackend[];
  readonly metrics: AuditMetrics;
  readonly clock: Clock;
}

export interface AuditedRequest {
  readonly exchange: Exchange;
  readonly info: RequestInfo;
  /** Undefined when it could not be told. */
  readonly user: User | undefined;
  readonly isLong: boolean;
}

export class Auditor {
  constructor(private readonly settings: AuditorSettings) {}

  /** Undefined for what the policy does not record. The answer tells the event's id. */
  recordOf({ exchange, info, user, isLong }: AuditedRequest): AuditRecord | undefined {
    const { policy, metrics, clock } = this.settings;
    const decision = policy.decide(info, user);
    metrics.levelOf(decision.level);
    if (decision.level === 'None') return undefined;
    const { request, headers } = exchange;
    const sent = request.headers[idHeader];
    const auditID = typeof sent === 'string' && sent !== '' ? sent : randomUUID();
    headers[idHeader] = auditID;
    return new AuditRecord({
      decision,
      info,
      isLong,
      mediaType: request.headers['content-type'] ?? 'application/json',
      facts: {
        auditID,
        requestURI: request.url ?? '',
        verb: info.verb,
        user: userInfo(user),
        sourceIPs: sourceAddresses(request),
        userAgent: agentOf(request.headers['user-agent'] ?? ''),
      },
      nowMs: () => clock.nowMs(),
      tell: (event) => this.tell(event),
    });
  }

  /** A request was not begun because its event could not be kept. */
  rejected(): void {
    this.settings.metrics.rejected();
  }

  private tell(event: AuditEvent): Promise<void> | undefined {
    const { backends, metrics } = this.settings;
    metrics.told();
    const waits = backends.flatMap((backend) => backend.take(event) ?? []);
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
  }
}

function userInfo(user: User | undefined): AuditEvent['user'] {
  if (!user) return {};
  const { name: username, uid, groups, extra } = user;
  return {
    username,
    ...(uid !== '' && { uid }),
    groups: [...groups],
    ...(Object.keys(extra).length > 0 && { extra: extra as Record<string, string[]> }),
  };
}

function agentOf(agent: string): string {
  return agent.length > auditUserAgentLengthMax
    ? `${agent.slice(0, auditUserAgentLengthMax)}${cut}`
    : agent;
}
