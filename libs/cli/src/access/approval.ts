/** Approves or denies a certificate signing request through its approval subresource. */
import { isConflict, type ResourceClient } from '@orch/client';
import { systemClock } from '@orch/component';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '@orch/types/certificates/v1';
import { CliError } from '../command-line/errors.js';

export type ApprovalType = 'Approved' | 'Denied';

/** Attempts when other writers change the request between reading and writing it. */
const attemptCountMax = 10;

/**
 * Returns the request with the condition. A request that has it already is written again only if
 * `force` is set. Throws `CliError` if it has the opposite condition.
 */
export async function setApproval(
  client: ResourceClient<CertificateSigningRequest>,
  name: string,
  type: ApprovalType,
  force: boolean,
): Promise<CertificateSigningRequest> {
  for (let attempt = 1; ; attempt++) {
    const request = await client.get(name);
    if (hasCondition(request, type) && !force) return request;
    const changed = withCondition(request, type, new Date(systemClock.nowMs()));
    try {
      const approval = client.subresource<CertificateSigningRequest>(name, 'approval');
      return await approval.replace(changed);
    } catch (error) {
      if (!isConflict(error) || attempt >= attemptCountMax) throw error;
    }
  }
}

function hasCondition({ status }: CertificateSigningRequest, type: ApprovalType): boolean {
  return status?.conditions?.some((condition) => condition.type === type) ?? false;
}

function withCondition(
  request: CertificateSigningRequest,
  type: ApprovalType,
  now: Date,
): CertificateSigningRequest {
  const opposite = type === 'Approved' ? 'Denied' : 'Approved';
  if (hasCondition(request, opposite)) {
    throw new CliError(
      `certificate signing request "${request.metadata?.name}" is already ${opposite}`,
    );
  }
  const verb = type === 'Approved' ? 'approve' : 'deny';
  const condition: CertificateSigningRequestCondition = {
    type,
    status: 'True',
    reason: type === 'Approved' ? 'OrchctlApprove' : 'OrchctlDeny',
    message: `This CSR was ${type.toLowerCase()} by orchctl certificate ${verb}.`,
    lastUpdateTime: `${now.toISOString().slice(0, 19)}Z`,
  };
  const others = (request.status?.conditions ?? []).filter((existing) => existing.type !== type);
  return { ...request, status: { ...request.status, conditions: [...others, condition] } };
}
