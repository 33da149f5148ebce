/**
 * The process's logger: pino, written synchronously to one stream so that the last line before an exit
 * is not lost. `text` prints one readable line an event, `json` one object. Secrets are taken out by
 * field name and, in messages, wherever a bearer token stands. Rotation is left to whoever owns the file.
 */
import { type DestinationStream, destination, pino, stdSerializers } from 'pino';
import type { Logger } from './logger.js';
import { textLine } from './text-line.js';

export const logFormats = ['text', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];
export const logLevels = ['debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LoggerSettings {
  /** Name shown on every line. */
  readonly component: string;
  readonly format: LogFormat;
  readonly level: LogLevel;
  /** Where lines go; standard error when left out. */
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

export function createLogger(settings: LoggerSettings): Logger {
  return pino(
    {
      level: settings.level,
      base: { component: settings.component },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: stdSerializers.err, error: stdSerializers.err },
      redact: {
        paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        censor: '[redacted]',
      },
    },
    output(settings),
  );
}

function output(settings: LoggerSettings): DestinationStream {
  const write = settings.write ?? standardError();
  if (settings.format === 'json') {
    return { write: (line) => write(withoutBearerTokens(line)) };
  }
  return { write: (line) => write(withoutBearerTokens(textLine(line))) };
}

function standardError(): (line: string) => void {
  const stream = destination({ fd: 2, sync: true });
  return (line) => {
    stream.write(line);
  };
}

function withoutBearerTokens(line: string): string {
  if (!line.includes('earer ')) return line;
  return line.replace(/([Bb]earer )[\w\-.~+/]+=*/g, '$1[redacted]');
}
