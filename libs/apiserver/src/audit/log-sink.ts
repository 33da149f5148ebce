/** The log backend: events as lines of a file, or of standard output. */
import { auditPendingEventsMax } from '../limits.js';
import type { AuditSink } from './audit-backend.js';
import { type AuditEvent, jsonOf, legacyLineOf } from './event.js';

export const auditLogFormats = ['json', 'legacy'] as const;
export type AuditLogFormat = (typeof auditLogFormats)[number];

/** The destination of lines. The caller serialises its calls. */
export interface LineOutput {
  write(lines: string): Promise<void>;
  close(): Promise<void>;
}

export class LogSink implements AuditSink {
  readonly name = 'log';
  private readonly lineOf: (event: AuditEvent) => string;
  private lines: string[] = [];
  private next: Promise<void> | undefined;
  private current: Promise<void> = Promise.resolve();

  constructor(
    private readonly output: LineOutput,
    format: AuditLogFormat,
  ) {
    this.lineOf = format === 'json' ? jsonOf : legacyLineOf;
  }

  /** Events that arrive while a write is in flight are written together by the next one. */
  async write(events: readonly AuditEvent[]): Promise<void> {
    if (this.lines.length >= auditPendingEventsMax)
      throw new Error(`more than ${auditPendingEventsMax} events wait for the log`);
    for (const event of events) this.lines.push(`${this.lineOf(event)}\n`);
    this.next ??= this.current.then(() => this.flush());
    return this.next;
  }

  async close(): Promise<void> {
    await this.next;
    await this.output.close();
  }

  private flush(): Promise<void> {
    const text = this.lines.join('');
    this.lines = [];
    this.next = undefined;
    const writing = this.output.write(text);
    this.current = writing.then(
      () => undefined,
      () => undefined,
    );
    return writing;
  }
}

export class StandardOutput implements LineOutput {
  write(lines: string): Promise<void> {
    return new Promise((resolve, reject) => {
      process.stdout.write(lines, (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    // The process owns the stream.
  }
}
