/**
 * Validates certificate signing requests. The beta version allows more than the stable one, and
 * stored violations stay allowed; the subresource decides which conditions a write may add.
 */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  Literal,
  path,
  semanticallyEqual,
} from '@orch/apimachinery';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '@orch/types/certificates/v1';
import type { StrategyContext } from '../definition.js';
import { certificatesProblem, requestProblem } from './request.js';
import { legacySigner, validateSignerName } from './signer-name.js';

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const knownUsages: ReadonlySet<string> = new Set(usages);
const decided: readonly string[] = ['Approved', 'Denied'];
const final: readonly string[] = [...decided, 'Failed'];

const conditionsOf = (object: CertificateSigningRequest) => object.status?.conditions ?? [];
const typesOf = (object: CertificateSigningRequest) => conditionsOf(object).map(({ type }) => type);
const usagesOf = (object: CertificateSigningRequest): readonly string[] => object.spec.usages ?? [];
const certificateOf = (object: CertificateSigningRequest) => object.status?.certificate ?? '';
const hasDuplicates = (values: readonly string[]) => new Set(values).size < values.length;

/**
 * Reports whether the rule is off: because of the version, or because the stored object already
 * violates it.
 */
function isExempt(
  context: StrategyContext,
  old: CertificateSigningRequest | undefined,
  breaks: (object: CertificateSigningRequest) => boolean,
): boolean {
  return context.requestVersion?.version !== 'v1' || (old !== undefined && breaks(old));
}

export function validateRequest(
  object: CertificateSigningRequest,
  context: StrategyContext,
  old?: CertificateSigningRequest,
): FieldError[] {
  const fieldPath = path('spec');
  const { request, signerName = '' } = object.spec;
  const errors: FieldError[] = [];
  const problem = requestProblem(request ?? '');
  if (problem !== undefined) {
    errors.push(
      fieldError.invalid(fieldPath.child('request'), bytesLiteral(request ?? ''), problem),
    );
  }
  errors.push(...validateUsages(object, context, old, fieldPath.child('usages')));
  const legacy = legacySigner();
  if (signerName === legacy && !isExempt(context, old, ({ spec }) => spec.signerName === legacy)) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('signerName'),
        signerName,
        'the legacy signerName is not allowed via this API version',
      ),
    );
  } else errors.push(...validateSignerName(signerName, fieldPath.child('signerName')));
  errors.push(...validateConditions(object, context, old));
  const certificate = certificateOf(object);
  if (!isExempt(context, old, (stored) => certificateOf(stored) === certificate)) {
    const wrong = certificatesProblem(certificate);
    if (wrong !== undefined) {
      errors.push(fieldError.invalid(path('status', 'certificate'), '<certificate data>', wrong));
    }
  }
  return errors;
}

/** Bytes in upstream notation. */
function bytesLiteral(encoded: string): Literal {
  if (encoded === '') return new Literal('[]byte(nil)');
  const bytes = [...Buffer.from(encoded, 'base64')].map((byte) => `0x${byte.toString(16)}`);
  return new Literal(`[]byte{${bytes.join(', ')}}`);
}

function validateUsages(
  object: CertificateSigningRequest,
  context: StrategyContext,
  old: CertificateSigningRequest | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const requested = usagesOf(object);
  const errors =
    requested.length === 0 ? [fieldError.required(fieldPath, 'usages must be provided')] : [];
  const hasUnknown = (stored: CertificateSigningRequest) =>
    usagesOf(stored).some((usage) => !knownUsages.has(usage));
  if (!isExempt(context, old, hasUnknown)) {
    for (const [index, usage] of requested.entries()) {
      if (!knownUsages.has(usage)) {
        errors.push(fieldError.notSupported(fieldPath.index(index), usage, usages));
      }
    }
  }
  if (!isExempt(context, old, (stored) => hasDuplicates(usagesOf(stored)))) {
    for (const [index, usage] of requested.entries()) {
      if (requested.indexOf(usage) < index)
        errors.push(fieldError.duplicate(fieldPath.index(index), usage));
    }
  }
  return errors;
}

function validateConditions(
  object: CertificateSigningRequest,
  context: StrategyContext,
  old: CertificateSigningRequest | undefined,
): FieldError[] {
  const mayLackType = isExempt(context, old, (stored) => typesOf(stored).includes(''));
  const mayRepeat = isExempt(context, old, (stored) => hasDuplicates(typesOf(stored)));
  const mayBeBoth =
    old !== undefined && decided.every((type) => typesOf(old).some((present) => present === type));
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, { type = '', status = '' }] of conditionsOf(object).entries()) {
    const fieldPath = path('status', 'conditions').index(index);
    if (type === '' && !mayLackType) errors.push(fieldError.required(fieldPath.child('type')));
    const allowed = final.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if (status === '') errors.push(fieldError.required(fieldPath.child('status')));
    else if (!allowed.includes(status)) {
      errors.push(fieldError.notSupported(fieldPath.child('status'), status, allowed));
    }
    const other = decided.find((decision) => decision !== type) ?? '';
    if (!mayBeBoth && decided.includes(type) && seen.has(other)) {
      errors.push(
        fieldError.invalid(
          fieldPath.child('type'),
          type,
          'Approved and Denied conditions are mutually exclusive',
        ),
      );
    }
    if (!mayRepeat && seen.has(type))
      errors.push(fieldError.duplicate(fieldPath.child('type'), type));
    seen.add(type);
  }
  return errors;
}

/** What a write to a subresource may change in addition. */
export interface Permissions {
  readonly decides?: boolean;
  readonly certifies?: boolean;
}

function conditionsOfType(
  object: CertificateSigningRequest,
  conditionType: string,
): CertificateSigningRequestCondition[] {
  return conditionsOf(object).filter(({ type }) => type === conditionType);
}

export function validateRequestUpdate(
  object: CertificateSigningRequest,
  old: CertificateSigningRequest,
  context: StrategyContext,
  { decides = false, certifies = false }: Permissions = {},
): FieldError[] {
  const errors = validateRequest(object, context, old);
  const fieldPath = path('status', 'conditions');
  for (const type of final) {
    if (conditionsOfType(object, type).length < conditionsOfType(old, type).length) {
      errors.push(
        fieldError.forbidden(
          fieldPath,
          `updates may not remove a condition of type ${JSON.stringify(type)}`,
        ),
      );
    }
  }
  if (!decides)
    errors.push(...decided.flatMap((type) => validateUndecided(object, old, type, fieldPath)));
  const certificateAt = path('status', 'certificate');
  const stored = certificateOf(old);
  if (certificateOf(object) === stored) return errors;
  if (!certifies) {
    errors.push(fieldError.forbidden(certificateAt, 'updates may not set certificate content'));
  } else if (stored !== '' && !isExempt(context, undefined, () => false)) {
    errors.push(
      fieldError.forbidden(certificateAt, 'updates may not modify existing certificate content'),
    );
  }
  return errors;
}

/** Approval conditions may only be added through the approval subresource. */
function validateUndecided(
  object: CertificateSigningRequest,
  old: CertificateSigningRequest,
  type: string,
  fieldPath: FieldPath,
): FieldError[] {
  const now = conditionsOfType(object, type);
  const before = conditionsOfType(old, type);
  if (now.length < before.length) return [];
  if (now.length > before.length) {
    return [
      fieldError.forbidden(
        fieldPath,
        `updates may not add a condition of type ${JSON.stringify(type)}`,
      ),
    ];
  }
  return semanticallyEqual(now, before)
    ? []
    : [
        fieldError.forbidden(
          fieldPath,
          `updates may not modify a condition of type ${JSON.stringify(type)}`,
        ),
      ];
}
