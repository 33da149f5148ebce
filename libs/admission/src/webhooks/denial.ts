/** The failure that a client gets when a webhook rejects its request. */
import { type Status, StatusError, type StatusReason } from '@orch/apimachinery';
import type { AdmissionResponse } from '@orch/types/admission/v1';

const badRequestCode = 400;
/** Status codes have three digits. */
const codeMax = 999;
const internalErrorCode = 500;

/** The webhook rejected the request; the failure is the one it describes. */
export class WebhookDenial extends StatusError {
  constructor(webhook: string, { status = {} }: AdmissionResponse) {
    const { code = 0, message = '', reason = '', details, metadata } = status;
    const why = message || reason;
    const deniedBy = `admission webhook ${JSON.stringify(webhook)} denied the request`;
    super({
      code: codeOf(code),
      message: why === '' ? `${deniedBy} without explanation` : `${deniedBy}: ${why}`,
      ...(reason !== '' && { reason: reason as StatusReason }),
      ...(details && { details: details as NonNullable<Status['details']> }),
      ...(metadata && { metadata }),
    });
  }
}

function codeOf(code: number): number {
  if (code < badRequestCode) return badRequestCode;
  return code > codeMax ? internalErrorCode : code;
}
