/** Deletes certificate signing requests that are complete, or pending for too long. */
import { X509Certificate } from 'node:crypto';
import { isConflict, isNotFound, resources } from '@orch/client';
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import { type ControllerFactory, done } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { never } from '../common/watches.js';
import { deletionMs } from './cleaning-plan.js';

export const csrCleanerController: ControllerFactory = (context) => {
  const { clock, client, informers } = context;
  const requests = informers.informer(resources.certificateSigningRequests).lister;
  return controller('csr_cleaner', context)
    .for(resources.certificateSigningRequests, { delete: never })
    .reconcile(async (key) => {
      const request = requests.get(key);
      if (!request) return done;
      const atMs = deletionMs(request, certificateEndMs(request));
      if (atMs === undefined) return done;
      const remainingMs = atMs - clock.nowMs();
      if (remainingMs > 0) return { requeueAfterMs: remainingMs };
      const { name = '', uid } = request.metadata ?? {};
      const deletion = client
        .resource(resources.certificateSigningRequests)
        .delete(name, { preconditions: { uid } });
      await ignoring(deletion, isNotFound, isConflict);
      return done;
    });
};

/** Undefined without a certificate that can be read. */
function certificateEndMs({ status }: CertificateSigningRequest): number | undefined {
  const { certificate = '' } = status ?? {};
  if (certificate === '') return undefined;
  try {
    return Date.parse(new X509Certificate(Buffer.from(certificate, 'base64')).validTo);
  } catch {
    // Another signer may store anything; the request is deleted an hour after its approval.
    return undefined;
  }
}
