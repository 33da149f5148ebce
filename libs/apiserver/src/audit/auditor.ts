/**
 * Decides how much of each request is recorded and passes the events to the backends. A server
 * without a policy has no auditor, so that auditing costs nothing there.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '@orch/component';
import type { RequestContext } from '../http/request-context.js';
import { auditUserAgentLengthMax } from '../limits.js';
import type { AuditBackend } from './audit-backend.js';
import type { AuditMetrics } from './audit-metrics.js';
import { AuditRecord } from './audit-record.js';
import type { AuditEvent } from './event.js';
import type { AuditPolicy } from './policy.js';
import { sourceAddresses } from './source-addresses.js';
import { userInfo } from './user-info.js';

const idHeader = 'audit-id';
const truncationMark = '...TRUNCATED';

export interface AuditorDependencies {
  readonly policy: AuditPolicy;
  readonly backends: readonly AuditBackend[];
  readonly metrics: AuditMetrics;
  readonly clock: Clock;
}

export class Auditor {
  constructor(private readonly dependencies: AuditorDependencies) {}

  /** Undefined: the policy does not record the request. The response has the id of the event. */
  recordOf(context: RequestContext): AuditRecord | undefined {
    const { info, request, headers, isAuthenticated, isLongRunning } = context;
    const user = isAuthenticated ? context.user : undefined;
    const { policy, metrics, clock } = this.dependencies;
    const decision = policy.decide(info, user);
    metrics.levelOf(decision.level);
    if (decision.level === 'None') return undefined;
    const sent = request.headers[idHeader];
    const auditID = typeof sent === 'string' && sent !== '' ? sent : randomUUID();
    headers[idHeader] = auditID;
    return new AuditRecord({
      decision,
      info,
      isLongRunning: isAuthenticated && isLongRunning,
      mediaType: request.headers['content-type'] ?? 'application/json',
      attributes: {
        auditID,
        requestURI: request.url ?? '',
        verb: info.verb,
        user: userInfo(user),
        sourceIPs: sourceAddresses(request),
        userAgent: agentOf(request.headers['user-agent'] ?? ''),
      },
      nowMs: () => clock.nowMs(),
      emit: (event) => this.emit(event),
    });
  }

  /** A request was rejected because its event could not be stored. */
  rejected(): void {
    this.dependencies.metrics.rejected();
  }

  private emit(event: AuditEvent): Promise<void> | undefined {
    const { backends, metrics } = this.dependencies;
    metrics.emitted();
    const waits = backends.flatMap((backend) => backend.take(event) ?? []);
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
  }
}

function agentOf(agent: string): string {
  return agent.length > auditUserAgentLengthMax
    ? `${agent.slice(0, auditUserAgentLengthMax)}${truncationMark}`
    : agent;
}
