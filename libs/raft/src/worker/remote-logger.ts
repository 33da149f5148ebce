/**
 * The logger of the replica's thread: lines go to the main thread, which writes them. Their fields
 * become plain data first, because errors and functions cannot be cloned.
 */
import type { Logger } from '@orch/component';
import { logLinesMax } from '../limits.js';
import type { LoggerMethod, LogLine } from './protocol.js';

export class RemoteLog {
  private lines: LogLine[] = [];
  private dropped = 0;

  /** `onFirst`: the first line since `take` has gathered. */
  constructor(private readonly onFirst: () => void) {}

  logger(bindings: Readonly<Record<string, unknown>> = {}): Logger {
    const line = (level: LoggerMethod) => (first: unknown, message?: unknown) => {
      const hasFields = typeof first === 'object' && first !== null;
      const fields = { ...bindings, ...(hasFields ? plainFields(first) : {}) };
      this.add({ level, fields, message: String(hasFields ? (message ?? '') : first) });
    };
    return {
      debug: line('debug'),
      info: line('info'),
      warn: line('warn'),
      error: line('error'),
      fatal: line('fatal'),
      child: (more: Record<string, unknown>) => this.logger({ ...bindings, ...plainFields(more) }),
    };
  }

  take(): LogLine[] {
    const lines = this.lines;
    if (this.dropped > 0) {
      const fields = { count: this.dropped };
      lines.push({ level: 'warn', fields, message: 'lines of the replica were dropped' });
    }
    this.lines = [];
    this.dropped = 0;
    return lines;
  }

  private add(line: LogLine): void {
    if (this.lines.length >= logLinesMax) {
      this.dropped += 1;
      return;
    }
    this.lines.push(line);
    if (this.lines.length === 1) this.onFirst();
  }
}

export function writeLines(logger: Logger, lines: readonly LogLine[]): void {
  for (const { level, fields, message } of lines) logger[level](fields, message);
}

function plainFields(fields: object): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) plain[name] = plainValue(value);
  return plain;
}

function plainValue(value: unknown): unknown {
  if (value instanceof Error) {
    const { name, message, stack } = value;
    const { code } = value as { code?: unknown };
    return { type: name, message, stack, ...(typeof code === 'string' && { code }) };
  }
  if (typeof value === 'object' && value !== null) return JSON.parse(JSON.stringify(value));
  return typeof value === 'function' || typeof value === 'symbol' ? String(value) : value;
}
