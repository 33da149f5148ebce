/**
 * The questions of `auth can-i`: one action as a SelfSubjectAccessReview, and all rules of the user
 * in a namespace as a SelfSubjectRulesReview.
 */
import type {
  ResourceAttributes,
  SelfSubjectAccessReview,
  SelfSubjectAccessReviewSpec,
  SelfSubjectRulesReview,
  SubjectAccessReviewStatus,
  SubjectRulesReviewStatus,
} from '@orch/types/authorization/v1';
import { CliError, UsageError } from '../command-line/errors.js';
import type { Catalog } from '../session/catalog.js';
import type { Session } from '../session/session.js';
import { isKnownVerb, isVirtualResource } from './known-names.js';

export interface PermissionQuery {
  readonly words: readonly string[];
  readonly subresource?: string;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
}

export interface PermissionQuestion {
  readonly spec: SelfSubjectAccessReviewSpec;
  readonly warnings: readonly string[];
}

/** The review of `VERB TYPE [NAME]`, `VERB TYPE/NAME` or `VERB /PATH`. Throws `UsageError`. */
export async function permissionQuestion(
  { words, subresource, namespace }: PermissionQuery,
  catalog: Catalog,
): Promise<PermissionQuestion> {
  const [verb, target, name] = words;
  if (verb === undefined || target === undefined || words.length > 3) {
    throw new UsageError(
      'you must specify two or three arguments: VERB TYPE [NAME], or VERB /PATH',
    );
  }
  if (target.startsWith('/')) {
    if (name !== undefined || subresource) {
      throw new UsageError(`${target} is a path, which has neither a name nor a subresource`);
    }
    const warnings = verbWarnings(verb, true);
    return { spec: { nonResourceAttributes: { verb, path: target } }, warnings };
  }
  const [typeName, nameInTarget] = splitOnce(target, '/');
  if (nameInTarget !== undefined && name !== undefined) {
    throw new UsageError(`"${target}" names the object already; remove "${name}"`);
  }
  const type = await typeAttributes(typeName, namespace, catalog);
  return {
    spec: {
      resourceAttributes: {
        verb,
        ...type.attributes,
        ...(subresource && { subresource }),
        ...(name !== undefined || nameInTarget !== undefined ? { name: name ?? nameInTarget } : {}),
      },
    },
    warnings: [...type.warnings, ...verbWarnings(verb, false)],
  };
}

async function typeAttributes(
  typeName: string,
  namespace: string | undefined,
  catalog: Catalog,
): Promise<{ attributes: ResourceAttributes; warnings: string[] }> {
  const inNamespace = namespace === undefined ? {} : { namespace };
  if (typeName === '*') return { attributes: { resource: '*', ...inNamespace }, warnings: [] };
  const type = await catalog.type(typeName).catch((error: unknown) => {
    if (error instanceof CliError) return undefined;
    throw error;
  });
  const [resource, group] = type ? [type.plural, type.groupName] : splitOnce(typeName, '.');
  const inGroup = group ? ` in group '${group}'` : '';
  const attributes = { resource, ...(group && { group }) };
  if (!type) {
    const warning = `the server doesn't have a resource type '${resource}'${inGroup}`;
    const isKnown = isVirtualResource(resource, group ?? '');
    return { attributes: { ...attributes, ...inNamespace }, warnings: isKnown ? [] : [warning] };
  }
  if (type.namespaced) return { attributes: { ...attributes, ...inNamespace }, warnings: [] };
  const warning = `resource '${resource}' is not namespace scoped${inGroup}`;
  // A permission in a namespace does not extend to cluster-scoped objects.
  return { attributes, warnings: namespace === undefined ? [] : [warning] };
}

function verbWarnings(verb: string, isPath: boolean): string[] {
  return isKnownVerb(verb, isPath) ? [] : [`verb '${verb}' is not a known verb`];
}

/** The text before and after the first separator. */
export function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}

export async function reviewPermission(
  { client }: Session,
  spec: SelfSubjectAccessReviewSpec,
): Promise<SubjectAccessReviewStatus> {
  const reviews = client.resource<SelfSubjectAccessReview>({
    group: 'authorization',
    version: 'v1',
    plural: 'selfsubjectaccessreviews',
  });
  const { status } = await reviews.create({ spec });
  if (!status) throw new CliError('the server returned an access review without a status');
  return status;
}

export async function reviewRules(
  { client }: Session,
  namespace: string,
): Promise<SubjectRulesReviewStatus> {
  const reviews = client.resource<SelfSubjectRulesReview>({
    group: 'authorization',
    version: 'v1',
    plural: 'selfsubjectrulesreviews',
  });
  const { status } = await reviews.create({ spec: { namespace } });
  if (!status) throw new CliError('the server returned a rules review without a status');
  return status;
}

/** The line for a decision: `yes`, or `no` with the reason of the server. */
export function decisionLine({ allowed, reason, evaluationError }: SubjectAccessReviewStatus) {
  if (allowed) return 'yes\n';
  return `${['no', reason, evaluationError].filter(Boolean).join(' - ')}\n`;
}
