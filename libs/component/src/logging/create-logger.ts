/**
 * The logger of a process: pino, written to one stream. `text` prints one readable line per event,
 * `json` one object. Secrets are redacted by field name, and bearer tokens anywhere in the line.
 * The owner of the stream rotates its file.
 */
import { type DestinationStream, pino, stdSerializers } from 'pino';
import { standardError } from './log-output.js';
import type { Logger } from './logger.js';
import { textLine } from './text-line.js';

export const logFormats = ['text', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];
export const logLevels = ['debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LoggerOptions {
  /** The name of the component, in every line. */
  readonly component: string;
  readonly format: LogFormat;
  readonly level: LogLevel;
  /** Writes one line; to standard error by default. */
  readonly write?: (line: string) => void;
}

const secretFields = [
  'token',
  'password',
  'authorization',
  'Authorization',
  'secret',
  'clientKeyData',
  'privateKey',
  'cookie',
];

export function createLogger(options: LoggerOptions): Logger {
  return pino(
    {
      level: options.level,
      base: { component: options.component },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: stdSerializers.err, error: stdSerializers.err },
      redact: {
        paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        censor: '[redacted]',
      },
    },
    output(options),
  );
}

function output(options: LoggerOptions): DestinationStream {
  const write = options.write ?? standardErrorLine;
  if (options.format === 'json') {
    return { write: (line) => write(withoutBearerTokens(line)) };
  }
  return { write: (line) => write(withoutBearerTokens(textLine(line))) };
}

function standardErrorLine(line: string): void {
  standardError.write(line);
}

function withoutBearerTokens(line: string): string {
  if (!line.includes('earer ')) return line;
  return line.replace(/([Bb]earer )[\w\-.~+/]+=*/g, '$1[redacted]');
}
