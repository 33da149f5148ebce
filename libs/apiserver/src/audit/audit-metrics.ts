/** Metrics of the audit log. Names and labels are the interface's. */
import type { Metrics } from '@orch/component';
import { type AuditLevel, auditLevels } from './policy.js';

export class AuditMetrics {
  private readonly events;
  private readonly rejections;
  private readonly errors;
  private readonly byLevel;

  constructor(metrics: Metrics) {
    this.events = metrics
      .counter({
        name: 'apiserver_audit_event_total',
        help: 'Audit events handed to the backends.',
      })
      .labels({});
    this.rejections = metrics
      .counter({
        name: 'apiserver_audit_requests_rejected_total',
        help: 'Requests refused because their audit event could not be kept.',
      })
      .labels({});
    this.errors = metrics.counter({
      name: 'apiserver_audit_error_total',
      help: 'Audit events that were lost, by backend.',
      labels: ['plugin'],
    });
    const levels = metrics.counter({
      name: 'apiserver_audit_level_total',
      help: 'Requests by the level at which the audit policy has them recorded.',
      labels: ['level'],
    });
    this.byLevel = Object.fromEntries(
      auditLevels.map((level) => [level, levels.labels({ level })]),
    ) as Record<AuditLevel, ReturnType<typeof levels.labels>>;
  }

  levelOf(level: AuditLevel): void {
    this.byLevel[level].inc();
  }

  told(): void {
    this.events.inc();
  }

  rejected(): void {
    this.rejections.inc();
  }

  lost(plugin: string, eventCount: number): void {
    this.errors.inc({ plugin }, eventCount);
  }
}
