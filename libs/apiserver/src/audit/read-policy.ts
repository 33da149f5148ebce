/** The file of the audit policy, in YAML or JSON, of any version of the interface: they look alike. */
import { readFileSync, statSync } from 'node:fs';
import { codecFor, SchemaError, StatusError } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { GroupResources, Policy, PolicyRule } from '@orch/types/audit/v1';
import { YAMLError } from 'yaml';
import { auditPolicyBytesMax } from '../limits.js';
import { parseYamlText } from '../request/parse-yaml.js';
import { unknownFields } from '../request/unknown-fields.js';
import { AuditPolicy, auditLevels, auditStages } from './policy.js';

const versions = ['v1', 'v1beta1', 'v1alpha1'];
const policyType = 'audit/v1.Policy';

/** The file cannot be used; the message names file and cause. */
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

/** `path`: for messages. Throws AuditPolicyError. */
export function parseAuditPolicy(text: string, path: string): Policy {
  const policy = decode(text, path);
  const problems = [
    ...(policy.rules ?? []).flatMap((rule, index) => ruleProblems(rule, `rules[${index}]`)),
    ...stageProblems(policy.omitStages, 'omitStages'),
  ];
  if (!policy.rules?.length) problems.push('rules: there are none');
  if (problems.length > 0) {
    throw new AuditPolicyError(`audit policy ${path}: ${problems.join('; ')}`);
  }
  return policy;
}

function decode(text: string, path: string): Policy {
  const refuse = (why: string) => new AuditPolicyError(`audit policy ${path}: ${why}`);
  try {
    const parsed = parseYamlText(text) as { apiVersion?: unknown; kind?: unknown } | null;
    const known = versions.map((version) => dialect().apiVersion('audit', version));
    const { apiVersion, kind } = parsed ?? {};
    if (kind !== 'Policy' || !known.includes(String(apiVersion))) {
      throw refuse(`not a Policy of ${known.join(', ')}`);
    }
    const unknown = unknownFields(policyType, parsed);
    if (unknown.length > 0) throw refuse(`unknown fields ${unknown.join(', ')}`);
    return codecFor<Policy>(policyType).fromJson(parsed);
  } catch (error) {
    const isRefused =
      error instanceof YAMLError || error instanceof SchemaError || error instanceof StatusError;
    throw isRefused ? refuse(error.message) : error;
  }
}

function ruleProblems(rule: PolicyRule, at: string): string[] {
  const { level, namespaces = [], resources = [], nonResourceURLs = [] } = rule;
  const problems = stageProblems(rule.omitStages, `${at}.omitStages`);
  if (!(auditLevels as readonly string[]).includes(level)) {
    problems.push(`${at}.level: must be one of ${auditLevels.join(', ')}`);
  }
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    problems.push(`${at}: a rule is for resources or for other addresses, not for both`);
  }
  for (const url of nonResourceURLs) {
    if (url !== '*' && !/^\/[^*]*\*?$/.test(url)) {
      problems.push(`${at}.nonResourceURLs: ${url} must begin with / and have * at its end only`);
    }
  }
  return [...problems, ...resources.flatMap((one) => resourceProblems(one, `${at}.resources`))];
}

function resourceProblems(
  { group = '', resources = [], resourceNames = [] }: GroupResources,
  at: string,
): string[] {
  const problems: string[] = [];
  if (group !== '' && !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(group)) {
    problems.push(`${at}: ${JSON.stringify(group)} is no group; versions do not belong to it`);
  }
  if (resourceNames.length > 0 && resources.length === 0) {
    problems.push(`${at}: resourceNames need resources`);
  }
  return problems;
}

function stageProblems(stages: readonly string[] | undefined, at: string): string[] {
  const unknown = (stages ?? []).filter(
    (stage) => !(auditStages as readonly string[]).includes(stage),
  );
  return unknown.map((stage) => `${at}: ${stage} is none of ${auditStages.join(', ')}`);
}
