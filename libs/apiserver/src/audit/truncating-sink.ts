/**
 * Limits the size of events and batches: it first removes the objects of an event that is too
 * large, then drops the event.
 */
import { dialect } from '@orch/component';
import { type AuditSink, type LossReport, reportLoss } from './audit-backend.js';
import { type AuditEvent, jsonOf } from './event.js';

export interface TruncatingSinkOptions {
  readonly eventBytesMax: number;
  readonly batchBytesMax: number;
}

export class TruncatingSink implements AuditSink {
  readonly name: string;

  constructor(
    private readonly sink: AuditSink,
    private readonly options: TruncatingSinkOptions,
    private readonly report: LossReport,
  ) {
    this.name = sink.name;
  }

  async write(events: readonly AuditEvent[]): Promise<void> {
    let batch: AuditEvent[] = [];
    let batchBytes = 0;
    for (const event of events) {
      const fitting = this.fitting(event);
      if (!fitting) continue;
      if (batch.length > 0 && batchBytes + fitting.bytes > this.options.batchBytesMax) {
        await this.sink.write(batch);
        batch = [];
        batchBytes = 0;
      }
      batch.push(fitting.event);
      batchBytes += fitting.bytes;
    }
    if (batch.length > 0) await this.sink.write(batch);
  }

  close(): Promise<void> {
    return this.sink.close();
  }

  private fitting(event: AuditEvent): { event: AuditEvent; bytes: number } | undefined {
    const { eventBytesMax } = this.options;
    const bytes = Buffer.byteLength(jsonOf(event));
    if (bytes <= eventBytesMax) return { event, bytes };
    const truncated = withoutObjects(event);
    const truncatedBytes = Buffer.byteLength(jsonOf(truncated));
    if (truncatedBytes <= eventBytesMax) return { event: truncated, bytes: truncatedBytes };
    reportLoss(this.report, this.name, 1, new Error('the event is too large without its objects'));
    return undefined;
  }
}

function withoutObjects(event: AuditEvent): AuditEvent {
  const { requestObject: _request, responseObject: _response, ...rest } = event;
  const key = `${dialect().group('audit')}/truncated`;
  return { ...rest, annotations: { ...event.annotations, [key]: 'true' } };
}
