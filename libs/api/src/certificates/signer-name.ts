/** Validates signer names, `domain/path`, and derives the signer of requests without one. */
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  type FieldError,
  type FieldPath,
  fieldError,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { CertificateSigningRequestSpec } from '@orch/types/certificates/v1beta1';
import { requestedSubject } from './request.js';

const domainBytesMax = 253;
/** Below the domain: a DNS label, a dot and a DNS subdomain. */
const nameBytesMax = domainBytesMax + 1 + 63 + 1 + 253;

export const legacySigner = () => dialect().key('legacy-unknown');
export const clientSigner = () => dialect().key(dialect().systemName('apiserver-client'));
const nodeClientSigner = () => dialect().key(dialect().systemName('apiserver-client-kubelet'));
const nodeServingSigner = () => dialect().key('kubelet-serving');

export function validateSignerName(name: string, fieldPath: FieldPath): FieldError[] {
  if (name === '') return [fieldError.required(fieldPath)];
  const [domain = '', signer = '', ...rest] = name.split('/');
  if (rest.length > 0 || !name.includes('/')) {
    return [
      fieldError.invalid(
        fieldPath,
        name,
        "must be a fully qualified domain and path of the form 'example.com/signer-name'",
      ),
    ];
  }
  const errors: FieldError[] = [];
  if (domain.length > domainBytesMax) errors.push(fieldError.tooLong(fieldPath, domainBytesMax));
  const labels = domain.split('.');
  errors.push(...partErrors(labels, checkDns1123Label, domain, fieldPath));
  if (labels.length < 2) {
    errors.push(
      fieldError.invalid(
        fieldPath,
        domain,
        'should be a domain with at least two segments separated by dots',
      ),
    );
  }
  errors.push(...partErrors(signer.split('.'), checkDns1123Subdomain, signer, fieldPath));
  if (name.length > nameBytesMax) errors.push(fieldError.tooLong(fieldPath, nameBytesMax));
  return errors;
}

/** The errors of the first invalid part. */
function partErrors(
  parts: readonly string[],
  check: (part: string) => readonly string[],
  whole: string,
  fieldPath: FieldPath,
): FieldError[] {
  const part = parts.find((text) => check(text).length > 0);
  if (part === undefined) return [];
  return check(part).map((message) =>
    fieldError.invalid(fieldPath, whole, `validating label ${JSON.stringify(part)}: ${message}`),
  );
}

const clientUsages = new Set(['key encipherment', 'digital signature', 'client auth']);
const servingUsages = new Set(['key encipherment', 'digital signature', 'server auth']);

/** The signer of a request without one: requests of node agents are recognised by their content. */
export function signerOf({ request, usages = [] }: CertificateSigningRequestSpec): string {
  const subject = requestedSubject(request ?? '');
  if (
    subject?.organizations.length !== 1 ||
    subject.organizations[0] !== 'system:nodes' ||
    !subject.commonName.startsWith('system:node:')
  ) {
    return legacySigner();
  }
  const names = subject.alternativeNames;
  if (names.length === 0 && usages.every((usage) => clientUsages.has(usage))) {
    return nodeClientSigner();
  }
  const asksToServe =
    usages.length === servingUsages.size &&
    new Set(usages).size === servingUsages.size &&
    usages.every((usage) => servingUsages.has(usage));
  const hasHost = names.includes('dns') || names.includes('ip');
  if (asksToServe && hasHost && !names.includes('email') && !names.includes('url')) {
    return nodeServingSigner();
  }
  return legacySigner();
}
