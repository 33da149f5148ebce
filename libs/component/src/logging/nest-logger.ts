/** Nest's logger interface over our own, so that the framework's lines look like all others. */
import type { LoggerService } from '@nestjs/common';
import type { Logger } from './logger.js';

/** Nest's start-up chatter is debug here; its warnings and errors keep their level. */
export function nestLogger(logger: Logger): LoggerService {
  const fields = (rest: readonly unknown[]) => {
    const context = rest.at(-1);
    return typeof context === 'string' ? { context } : {};
  };
  return {
    log: (message: unknown, ...rest: unknown[]) => logger.debug(fields(rest), String(message)),
    debug: (message: unknown, ...rest: unknown[]) => logger.debug(fields(rest), String(message)),
    verbose: (message: unknown, ...rest: unknown[]) => logger.debug(fields(rest), String(message)),
    warn: (message: unknown, ...rest: unknown[]) => logger.warn(fields(rest), String(message)),
    error: (message: unknown, ...rest: unknown[]) =>
      // What fails while the parts are put together is thrown as well, and reported by who catches it.
      (rest.at(-1) === 'ExceptionHandler' ? logger.debug : logger.error).call(
        logger,
        message instanceof Error ? { err: message, ...fields(rest) } : fields(rest),
        message instanceof Error ? message.message : String(message),
      ),
    fatal: (message: unknown, ...rest: unknown[]) => logger.fatal(fields(rest), String(message)),
  };
}
