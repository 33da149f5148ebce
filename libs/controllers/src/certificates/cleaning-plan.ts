/** When a certificate signing request is deleted. Pure. */
import { parseTime } from '@orch/apimachinery';
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import { createdMs } from '../common/created.js';

const hourMs = 3_600_000;
/** Lifetime of a request after it was issued, denied or failed. */
const completedMs = hourMs;
/** Lifetime of a request without any decision. */
const pendingMs = 24 * hourMs;

/**
 * Returns milliseconds since the epoch; undefined if the request remains until its state changes.
 * @param certificateEndMs when its certificate expires; undefined without a certificate.
 */
export function deletionMs(
  request: CertificateSigningRequest,
  certificateEndMs: number | undefined,
): number | undefined {
  const conditions = request.status?.conditions ?? [];
  if (conditions.length === 0) return createdMs(request) + pendingMs;
  const isIssued = (request.status?.certificate ?? '') !== '';
  const ends = conditions.flatMap(({ type, lastUpdateTime }) => {
    const isComplete = type === 'Denied' || type === 'Failed' || (type === 'Approved' && isIssued);
    if (!isComplete) return [];
    const updatedMs = parseTime(lastUpdateTime);
    return [
      ...(updatedMs === undefined ? [] : [updatedMs + completedMs]),
      ...(type === 'Approved' && certificateEndMs !== undefined ? [certificateEndMs] : []),
    ];
  });
  return ends.length === 0 ? undefined : Math.min(...ends);
}
