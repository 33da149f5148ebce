/**
 * Approves requests of node agents for client certificates if their creator is permitted to have
 * them: for any node by `nodeclient`, for the node itself by `selfnodeclient`.
 */
import { isConflict, isNotFound, resources } from '@orch/client';
import { CertificateRequestError, dialect } from '@orch/component';
import type { SubjectAccessReview } from '@orch/types/authorization/v1';
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import { type ControllerContext, type ControllerFactory, done } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { createdMs } from '../common/created.js';
import { ignoring } from '../common/expected-errors.js';
import { never } from '../common/watches.js';
import { approvingPermissions, nextCheckMs } from './approval-plan.js';
import { hasCondition, isIssued, namesOrError } from './request-state.js';
import { nodeClientSigner } from './signers.js';

const workerCount = 5;

export const csrApprovingController: ControllerFactory = (context) => {
  const requests = context.informers.informer(resources.certificateSigningRequests).lister;
  return controller('csr_approving', context)
    .workers(workerCount)
    .for(resources.certificateSigningRequests, { delete: never })
    .reconcile(async (key) => {
      const request = requests.get(key);
      if (!request || isDecided(request)) return done;
      const names = await namesOrError(request);
      if (names instanceof CertificateRequestError) {
        context.logger.info({ request: key, reason: names.message }, 'request is unreadable');
        return done;
      }
      const permissions = approvingPermissions(request.spec, names, nodeClientSigner());
      for (const { subresource, message } of permissions) {
        if (!(await mayCreate(context, request, subresource))) continue;
        await ignoring(approve(context, request, message), isConflict, isNotFound);
        return done;
      }
      if (permissions.length === 0) return done;
      return { requeueAfterMs: nextCheckMs(context.clock.nowMs() - createdMs(request)) };
    });
};

function isDecided(request: CertificateSigningRequest): boolean {
  return isIssued(request) || hasCondition(request, 'Approved') || hasCondition(request, 'Denied');
}

/** Whether the creator of the request may create the subresource of requests. */
async function mayCreate(
  { client }: ControllerContext,
  { spec }: CertificateSigningRequest,
  subresource: string,
): Promise<boolean> {
  const { username, uid, groups, extra } = spec;
  const apiVersion = dialect().apiVersion('authorization', 'v1');
  const body: SubjectAccessReview = {
    apiVersion,
    kind: 'SubjectAccessReview',
    spec: {
      user: username,
      ...(uid !== undefined && { uid }),
      ...(groups && { groups }),
      ...(extra && { extra }),
      resourceAttributes: {
        group: dialect().group('certificates'),
        version: '*',
        resource: 'certificatesigningrequests',
        subresource,
        verb: 'create',
      },
    },
  };
  const path = `/apis/${apiVersion}/subjectaccessreviews`;
  const review = (await client.request('POST', path, { body })).json<SubjectAccessReview>();
  return review.status?.allowed === true;
}

async function approve(
  { client }: ControllerContext,
  request: CertificateSigningRequest,
  message: string,
): Promise<void> {
  const conditions = [
    ...(request.status?.conditions ?? []),
    { type: 'Approved', status: 'True' as const, reason: 'AutoApproved', message },
  ];
  await client
    .resource(resources.certificateSigningRequests)
    .subresource<CertificateSigningRequest>(request.metadata?.name ?? '', 'approval')
    .replace({ ...request, status: { ...request.status, conditions } });
}
