/** Options of create, update, patch and delete requests, checked in the interface's wording. */
import {
  badRequest,
  type FieldError,
  fieldError,
  invalid,
  path,
  validateFieldManager,
} from '@orch/apimachinery';
import { dialect, type Features } from '@orch/component';
import type { DeleteOptions, PropagationPolicy } from '@orch/registry';
import type { Query } from '../http/query.js';
import type { PatchType } from './body-format.js';
import { parseInteger } from './list-options.js';

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
}

export interface PatchOptions extends WriteOptions {
  /** Apply takes fields of other managers over. */
  readonly force: boolean;
}

/** The body of a delete as decoded JSON. */
export interface DeleteOptionsBody {
  readonly dryRun?: readonly string[];
  readonly gracePeriodSeconds?: number;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

const noOptions: PatchOptions = { dryRun: false, fieldManager: '', force: false };
const policies: ReadonlySet<string> = new Set(['Foreground', 'Background', 'Orphan']);

function checkDryRun(values: readonly string[]): FieldError[] {
  if (values.every((value) => value === 'All')) return [];
  return [fieldError.notSupported('dryRun', values, ['All'])];
}

function refuse(kind: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: dialect().metaGroup, kind }, '', errors);
}

/** A client that is not to change anything must not be taken to want the change. Throws 400. */
export function checkDryRunEnabled(features: Features): void {
  if (!features.enabled('DryRun')) throw badRequest('the dryRun feature is disabled');
}

/** Options of a create or update. */
export function parseWriteOptions(
  query: Query,
  kind: 'CreateOptions' | 'UpdateOptions',
): WriteOptions {
  if (query.isEmpty) return noOptions;
  const dryRun = query.all('dryRun');
  const fieldManager = query.get('fieldManager');
  refuse(kind, [
    ...validateFieldManager(fieldManager, path('fieldManager')),
    ...checkDryRun(dryRun),
  ]);
  return { dryRun: dryRun.length > 0, fieldManager };
}

export function parsePatchOptions(query: Query, type: PatchType): PatchOptions {
  if (query.isEmpty && type !== 'apply') return noOptions;
  const errors: FieldError[] = [];
  const fieldManager = query.get('fieldManager');
  if (type === 'apply') {
    if (fieldManager === '') {
      errors.push(fieldError.required('fieldManager', 'is required for apply patch'));
    }
  } else if (query.has('force')) {
    errors.push(fieldError.forbidden('force', 'may not be specified for non-apply patch'));
  }
  const dryRun = query.all('dryRun');
  errors.push(...validateFieldManager(fieldManager, path('fieldManager')), ...checkDryRun(dryRun));
  refuse('PatchOptions', errors);
  return { dryRun: dryRun.length > 0, fieldManager, force: query.flag('force') };
}

function bodyFromQuery(query: Query): DeleteOptionsBody {
  return {
    dryRun: query.all('dryRun'),
    ...(query.has('gracePeriodSeconds') && {
      gracePeriodSeconds: parseInteger(query, 'gracePeriodSeconds'),
    }),
    ...(query.has('orphanDependents') && { orphanDependents: query.flag('orphanDependents') }),
    ...(query.has('propagationPolicy') && { propagationPolicy: query.get('propagationPolicy') }),
    preconditions: {
      ...(query.get('uid') !== '' && { uid: query.get('uid') }),
      ...(query.get('resourceVersion') !== '' && {
        resourceVersion: query.get('resourceVersion'),
      }),
    },
  };
}

function isPolicy(text: string): text is PropagationPolicy {
  return policies.has(text);
}

/**
 * `body`: undefined when none was sent; the query counts only then, but for its dry run: nothing is
 * deleted for a request that says so anywhere.
 */
export function parseDeleteOptions(
  query: Query,
  body: DeleteOptionsBody | undefined,
): DeleteOptions {
  const source = body ?? bodyFromQuery(query);
  const policy = source.propagationPolicy;
  const errors: FieldError[] = [];
  if (policy !== undefined && source.orphanDependents !== undefined) {
    errors.push(
      fieldError.invalid(
        'propagationPolicy',
        policy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    );
  } else if (policy !== undefined && !isPolicy(policy)) {
    errors.push(
      fieldError.notSupported('propagationPolicy', policy, [
        'Foreground',
        'Background',
        'Orphan',
        'nil',
      ]),
    );
  }
  const dryRun = body ? [...(body.dryRun ?? []), ...query.all('dryRun')] : (source.dryRun ?? []);
  errors.push(...checkDryRun(dryRun));
  refuse('DeleteOptions', errors);
  const graceSeconds = source.gracePeriodSeconds;
  if (graceSeconds !== undefined && !Number.isSafeInteger(graceSeconds)) {
    throw badRequest('gracePeriodSeconds is not an integer');
  }
  return {
    dryRun: dryRun.length > 0,
    gracePeriodSeconds: graceSeconds,
    orphanDependents: source.orphanDependents,
    propagationPolicy: policy !== undefined && isPolicy(policy) ? policy : undefined,
    preconditions: {
      uid: source.preconditions?.uid,
      resourceVersion: source.preconditions?.resourceVersion,
    },
  };
}
