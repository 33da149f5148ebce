/** Adapts a logger to Nest's interface, so that lines of the framework have the common format. */
import type { LoggerService } from '@nestjs/common';
import type { Logger } from './logger.js';

/**
 * Returns a Nest logger that logs Nest's start-up messages at level debug, and warnings and errors
 * as such.
 */
export function nestLogger(logger: Logger): LoggerService {
  const fields = (rest: readonly unknown[]): { context?: string } => {
    const context = rest.at(-1);
    return typeof context === 'string' ? { context: className(context) } : {};
  };
  return {
    log: (message: unknown, ...rest: unknown[]) => logger.debug(fields(rest), String(message)),
    debug: (message: unknown, ...rest: unknown[]) => logger.debug(fields(rest), String(message)),
    verbose: (message: unknown, ...rest: unknown[]) => logger.debug(fields(rest), String(message)),
    warn: (message: unknown, ...rest: unknown[]) => logger.warn(fields(rest), String(message)),
    error: (message: unknown, ...rest: unknown[]) =>
      // Errors during composition are also thrown, and the code that catches them logs them.
      (fields(rest).context === 'ExceptionHandler' ? logger.debug : logger.error).call(
        logger,
        message instanceof Error ? { err: message, ...fields(rest) } : fields(rest),
        message instanceof Error ? message.message : String(message),
      ),
    fatal: (message: unknown, ...rest: unknown[]) => logger.fatal(fields(rest), String(message)),
  };
}

/**
 * The context of Nest is the name of a class. The bundle of the API server renames each class that
 * refers to itself: ExceptionHandler is _ExceptionHandler there.
 */
function className(context: string): string {
  return context.replace(/^_/, '');
}
