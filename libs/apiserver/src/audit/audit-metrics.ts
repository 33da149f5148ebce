/** Metrics of the audit log. Names and labels are the interface's. */
import type { Metrics } from '@orch/component';
import { type AuditLevel } from './policy.js';

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
        help: 'Requests refused because their audit event could not be stored.',
      })
      .labels({});
    this.errors = metrics.counter({
      name: 'apiserver_audit_error_total',
      help: 'Audit events that were lost, by backend.',
      labels: ['plugin'],
    });
    const levels = metrics.counter({
      name: 'apiserver_audit_level_total',
      help: 'Requests by the level of the audit policy that applies to them.',
      labels: ['level'],
    });
    const series = (level: AuditLevel) => levels.labels({ level });
    this.byLevel = {
      None: series('None'),
      Metadata: series('Metadata'),
      Request: series('Request'),
      RequestResponse: series('RequestResponse'),
    };
  }

  levelOf(level: AuditLevel): void {
    this.byLevel[level].inc();
  }

  emitted(): void {
    this.events.inc();
  }

  rejected(): void {
    this.rejections.inc();
  }

  lost(plugin: string, eventCount: number): void {
    this.errors.inc({ plugin }, eventCount);
  }
}
