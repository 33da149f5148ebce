/**
 * Reads the audit policy file, YAML or JSON, in any version of the interface: their fields are the
 * same.
 */
import { readFileSync, statSync } from 'node:fs';
import { codecFor, SchemaError, StatusError } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { unknownFields } from '@orch/registry';
import type { GroupResources, Policy, PolicyRule } from '@orch/types/audit/v1';
import { YAMLError } from 'yaml';
import { auditPolicyBytesMax } from '../limits.js';
import { parseYamlText } from '../request/parse-yaml.js';
import { AuditPolicy, auditLevels, auditStages } from './policy.js';

const versions = ['v1', 'v1beta1', 'v1alpha1'];
const policyType = 'audit/v1.Policy';

/** The file cannot be used; the message names the file and the cause. */
export class AuditPolicyError extends Error {
  override readonly name = 'AuditPolicyError';
  readonly code = 'audit-policy-invalid';
}

/** Throws AuditPolicyError. */
export function readAuditPolicy(path: string): AuditPolicy {
  return new AuditPolicy(parseAuditPolicy(textOf(path), path));
}

function textOf(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > auditPolicyBytesMax) throw new Error(`larger than ${auditPolicyBytesMax} bytes`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new AuditPolicyError(`cannot read the audit policy ${path}: ${cause}`, { cause: error });
  }
}

/** `path` is for messages. Throws AuditPolicyError. */
export function parseAuditPolicy(text: string, path: string): Policy {
  const policy = decode(text, path);
  const problems = [
    ...(policy.rules ?? []).flatMap((rule, index) => ruleProblems(rule, `rules[${index}]`)),
    ...stageProblems(policy.omitStages, 'omitStages'),
  ];
  if (!policy.rules?.length) problems.push('rules: at least one is required');
  if (problems.length > 0) {
    throw new AuditPolicyError(`audit policy ${path}: ${problems.join('; ')}`);
  }
  return policy;
}

function decode(text: string, path: string): Policy {
  const invalid = (cause: string) => new AuditPolicyError(`audit policy ${path}: ${cause}`);
  try {
    const parsed = parseYamlText(text);
    const supported = versions.map((version) => dialect().apiVersion('audit', version));
    const { apiVersion, kind }: { apiVersion?: unknown; kind?: unknown } = parsed ?? {};
    if (kind !== 'Policy' || !supported.includes(String(apiVersion))) {
      throw invalid(`not a Policy of ${supported.join(', ')}`);
    }
    const unknown = unknownFields(policyType, parsed);
    if (unknown.length > 0) throw invalid(`unknown fields ${unknown.join(', ')}`);
    return codecFor<Policy>(policyType).fromJson(parsed);
  } catch (error) {
    const isRefused =
      error instanceof YAMLError || error instanceof SchemaError || error instanceof StatusError;
    throw isRefused ? invalid(error.message) : error;
  }
}

function ruleProblems(rule: PolicyRule, fieldPath: string): string[] {
  const { level, namespaces = [], resources = [], nonResourceURLs = [] } = rule;
  const problems = stageProblems(rule.omitStages, `${fieldPath}.omitStages`);
  if (!auditLevels.some((known) => known === level)) {
    problems.push(`${fieldPath}.level: must be one of ${auditLevels.join(', ')}`);
  }
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    problems.push(`${fieldPath}: a rule is for resources or for nonResourceURLs, not both`);
  }
  for (const url of nonResourceURLs) {
    if (url !== '*' && !/^\/[^*]*\*?$/.test(url)) {
      problems.push(
        `${fieldPath}.nonResourceURLs: ${url} must begin with / and have * only at its end`,
      );
    }
  }
  return [
    ...problems,
    ...resources.flatMap((resource) => resourceProblems(resource, `${fieldPath}.resources`)),
  ];
}

function resourceProblems(
  { group = '', resources = [], resourceNames = [] }: GroupResources,
  fieldPath: string,
): string[] {
  const problems: string[] = [];
  if (group !== '' && !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(group)) {
    problems.push(`${fieldPath}: ${JSON.stringify(group)} is not a group name; remove the version`);
  }
  if (resourceNames.length > 0 && resources.length === 0) {
    problems.push(`${fieldPath}: resourceNames need resources`);
  }
  return problems;
}

function stageProblems(stages: readonly string[] | undefined, fieldPath: string): string[] {
  const unknown = (stages ?? []).filter((stage) => !auditStages.some((known) => known === stage));
  return unknown.map((stage) => `${fieldPath}: ${stage} must be one of ${auditStages.join(', ')}`);
}
