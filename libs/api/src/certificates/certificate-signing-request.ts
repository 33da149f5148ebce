/** CertificateSigningRequest: requests a certificate from a signer; an approver decides. */
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '@orch/types/certificates/v1';
import type { CertificateSigningRequest as OlderRequest } from '@orch/types/certificates/v1beta1';
import { define, type StrategyContext } from '../definition.js';
import { ageColumn, nameColumn, textOrNone } from '../shared/columns.js';
import { signerOf } from './signer-name.js';
import { validateRequest, validateRequestUpdate } from './validation.js';

function setOlderDefaults(object: OlderRequest): void {
  object.spec ??= { request: '' };
  object.spec.signerName ??= signerOf(object.spec);
}

/** Sets the requester's identity, whatever the object says. */
function takeRequester(object: CertificateSigningRequest, { user }: StrategyContext): void {
  const { spec } = object;
  spec.username = user.name;
  spec.uid = user.uid;
  spec.groups = [...user.groups];
  spec.extra = Object.fromEntries(
    Object.entries(user.extra).map(([key, values]) => [key, [...values]]),
  );
  if (Object.keys(spec.extra).length === 0) delete spec.extra;
  if (spec.uid === '') delete spec.uid;
  if (spec.groups.length === 0) delete spec.groups;
}

/** Sets times that the client omitted; an unchanged condition keeps its time. */
function setConditionTimes(
  object: CertificateSigningRequest,
  old: CertificateSigningRequest,
  now: string,
): void {
  for (const condition of object.status?.conditions ?? []) {
    condition.lastUpdateTime ??= now;
    const before = old.status?.conditions?.find(
      ({ type, status, lastTransitionTime }) =>
        type === condition.type && status === condition.status && lastTransitionTime !== undefined,
    );
    condition.lastTransitionTime ??= before?.lastTransitionTime ?? now;
  }
}

/** Restores the stored approval conditions; returns false if their number differs. */
function keepDecisions(
  object: CertificateSigningRequest,
  old: CertificateSigningRequest,
  type: string,
): boolean {
  const isOfType = (condition: CertificateSigningRequestCondition) => condition.type === type;
  const stored = (old.status?.conditions ?? []).filter(isOfType);
  const conditions = object.status?.conditions ?? [];
  if (conditions.filter(isOfType).length !== stored.length) return false;
  for (const [index, condition] of conditions.entries()) {
    if (isOfType(condition)) conditions[index] = structuredClone(stored.shift()!);
  }
  return true;
}

function prepareStatus(
  object: CertificateSigningRequest,
  old: CertificateSigningRequest,
  context: StrategyContext,
): void {
  object.spec = old.spec;
  object.status ??= {};
  const isKept = ['Approved', 'Denied'].map((type) => keepDecisions(object, old, type));
  // The stable version rejects changes of the approval conditions, the beta version ignores them.
  if (isKept.includes(false) && context.requestVersion?.version !== 'v1') {
    object.status.conditions = structuredClone(old.status?.conditions);
  }
  setConditionTimes(object, old, context.now);
}

function conditionCell({ status }: CertificateSigningRequest): string {
  const types = new Set<string>(status?.conditions?.map(({ type }) => type));
  const decision = types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending';
  const failed = types.has('Failed') ? ',Failed' : '';
  return decision + failed + (status?.certificate ? ',Issued' : '');
}

export const certificateSigningRequest = define<CertificateSigningRequest>({
  plural: 'certificatesigningrequests',
  singular: '',
  kind: 'CertificateSigningRequest',
  shortNames: ['csr'],
  namespaced: false,
  versions: [
    { group: 'certificates', version: 'v1' },
    {
      group: 'certificates',
      version: 'v1beta1',
      setDefaults: (object) => setOlderDefaults(object),
      deprecation: {
        since: '1.19',
        unavailableFrom: '1.22',
        use: { group: 'certificates', version: 'v1', kind: 'CertificateSigningRequest' },
      },
    },
  ],
  stored: { group: 'certificates', version: 'v1' },
  validateName: () => [],

  prepareForCreate(object, context) {
    takeRequester(object, context);
    object.status = {};
  },
  prepareForUpdate(object, old) {
    object.spec = old.spec;
    object.status = old.status;
  },
  validateCreate: (object, context) => validateRequest(object, context),
  validateUpdate: (object, old, context) => validateRequestUpdate(object, old, context),

  status: {
    prepareForUpdate: prepareStatus,
    validateUpdate: (object, old, context) =>
      validateRequestUpdate(object, old, context, { certifies: true }),
  },
  approval: {
    resetFields: ['spec', 'status.certificate'],
    prepareForUpdate(object, old, { now }) {
      setConditionTimes(object, old, now);
      object.spec = old.spec;
      object.status = { ...old.status, conditions: object.status?.conditions ?? [] };
      if (object.status.conditions?.length === 0) delete object.status.conditions;
    },
    validateUpdate: (object, old, context) =>
      validateRequestUpdate(object, old, context, { decides: true }),
  },

  selectableFields: { 'spec.signerName': (object) => object.spec?.signerName ?? '' },
  columns: [
    nameColumn(),
    ageColumn(),
    {
      name: 'SignerName',
      type: 'string',
      description: 'Name of the signer.',
      cell: ({ spec }) => textOrNone(spec.signerName),
    },
    {
      name: 'Requestor',
      type: 'string',
      description: 'Name of the requester.',
      cell: ({ spec }) => spec.username ?? '',
    },
    {
      name: 'Condition',
      type: 'string',
      description: 'Approval conditions, and whether the certificate is issued.',
      cell: conditionCell,
    },
  ],
});
