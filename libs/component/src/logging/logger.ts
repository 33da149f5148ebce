/**
 * The logger interface of all libraries: fields and a constant message, `logger.info({ pod }, 'pod
 * started')`.
 */
import type { Logger as PinoLogger } from 'pino';

export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> & {
  child(bindings: Record<string, unknown>): Logger;
};
