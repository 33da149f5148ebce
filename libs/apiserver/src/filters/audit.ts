/** Records requests in the audit log. */
import { internalError } from '@orch/apimachinery';
import type { Logger } from '@orch/component';
import type { Auditor } from '../audit/auditor.js';
import { unparsedRequest } from '../http/request-info.js';
import type { Filter } from './filter.js';

/** Records a request whose user stays unknown: it failed before `audit` saw it. */
export function auditUnauthenticated(auditor: Auditor): Filter {
  return (next) => async (context) => {
    try {
      await next(context);
    } catch (error) {
      if (!context.isAuthenticated && context.info !== unparsedRequest) {
        context.audit = auditor.recordOf(context)?.ofUnknownUser();
      }
      throw error;
    }
  };
}

/**
 * Starts the record of a request. Rejects with 500 if the policy requires a record that cannot be
 * stored.
 */
export function audit(auditor: Auditor, logger: Logger): Filter {
  return (next) => async (context) => {
    const record = auditor.recordOf(context);
    if (record) {
      if (context.served) record.servedBy(context.served);
      try {
        await record.received();
      } catch (error) {
        auditor.rejected();
        logger.warn(
          { err: error },
          'a request was rejected because its audit event cannot be stored',
        );
        throw internalError('failed to store audit event');
      }
      context.audit = record;
    }
    await next(context);
  };
}
