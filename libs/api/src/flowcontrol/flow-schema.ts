/** FlowSchema: assigns requests to a priority level. */
import {
  checkDns1123Subdomain,
  conditionOf,
  type FieldError,
  type FieldPath,
  fieldError,
  path,
  structLiteral,
} from '@orch/apimachinery';
import type {
  FlowSchema,
  FlowSchemaCondition,
  FlowSchemaSpec,
} from '@orch/types/flowcontrol.apiserver/v1beta1';
import { define } from '../definition.js';
import { ageColumn, nameColumn, textOrNone } from '../shared/columns.js';
import { invalidEach } from '../shared/rules.js';
import { validatePolicyRule } from './flow-rules.js';
import { flowKind, validateConditions, validateFixed } from './shared.js';
import { systemFlowSchemas } from './system-objects.js';

const precedenceMax = 10_000;
const dangling = 'Dangling';

function validatePrecedence(precedence: number, name: string): FieldError[] {
  const refuse = (message: string) => [
    fieldError.invalid(path('spec', 'matchingPrecedence'), precedence, message),
  ];
  if (precedence <= 0) return refuse('must be a positive value');
  if (precedence > precedenceMax) return refuse(`must not be greater than ${precedenceMax}`);
  if (precedence === 1 && name !== 'exempt') {
    return refuse("only the schema named 'exempt' may have matchingPrecedence 1");
  }
  return [];
}

function validateFlowSchema(object: FlowSchema): FieldError[] {
  const spec: Partial<FlowSchemaSpec> = object.spec ?? {};
  const fieldPath = path('spec');
  const { distinguisherMethod: method, priorityLevelConfiguration: level } = spec;
  const levelAt = fieldPath.child('priorityLevelConfiguration', 'name');
  return [
    ...validatePrecedence(spec.matchingPrecedence ?? 0, object.metadata?.name ?? ''),
    ...(method
      ? validateMethod(method.type ?? '', fieldPath.child('distinguisherMethod', 'type'))
      : []),
    ...(level?.name
      ? invalidEach(levelAt, level.name, checkDns1123Subdomain(level.name))
      : [fieldError.required(levelAt, 'must reference a priority level')]),
    ...(spec.rules ?? []).flatMap((rule, index) =>
      validatePolicyRule(rule, fieldPath.child('rules').index(index)),
    ),
    ...validateFixed(object, systemFlowSchemas()),
    ...validateConditions(object),
  ];
}

/** The error shows the method as a whole. */
function validateMethod(type: string, fieldPath: FieldPath): FieldError[] {
  const types = ['ByNamespace', 'ByUser'];
  if (types.includes(type)) return [];
  const method = structLiteral('flowcontrol.FlowDistinguisherMethod', { Type: type });
  return [fieldError.notSupported(fieldPath, method, types)];
}

/**
 * The condition on the existence of the schema's priority level; undefined if it is up to date.
 * `now`: RFC 3339, seconds.
 */
export function danglingCondition(
  { spec, status }: FlowSchema,
  levelExists: boolean,
  now: string,
): FlowSchemaCondition | undefined {
  const desiredStatus = levelExists ? 'False' : 'True';
  if (conditionOf(status?.conditions, dangling)?.status === desiredStatus) return undefined;
  const name = JSON.stringify(spec?.priorityLevelConfiguration.name ?? '');
  const found = levelExists ? 'and it exists' : 'but there is no such object';
  return {
    type: dangling,
    status: desiredStatus,
    lastTransitionTime: now,
    reason: levelExists ? 'Found' : 'NotFound',
    message: `This FlowSchema references the PriorityLevelConfiguration object named ${name} ${found}`,
  };
}

export const flowSchema = define<FlowSchema>({
  ...flowKind<FlowSchema>('FlowSchema'),
  validate: validateFlowSchema,
  columns: [
    nameColumn(),
    {
      name: 'PriorityLevel',
      type: 'string',
      description: 'Priority level of matching requests.',
      cell: ({ spec }) => spec?.priorityLevelConfiguration.name ?? '',
    },
    {
      name: 'MatchingPrecedence',
      type: 'string',
      description: 'Precedence. The matching schema with the lowest number applies.',
      cell: ({ spec }) => spec?.matchingPrecedence ?? 0,
    },
    {
      name: 'DistinguisherMethod',
      type: 'string',
      description: 'Attribute that separates flows.',
      cell: ({ spec }) => textOrNone(spec?.distinguisherMethod?.type),
    },
    ageColumn(),
    {
      name: 'MissingPL',
      type: 'string',
      description: 'Whether the priority level is missing.',
      cell: ({ status }) => conditionOf(status?.conditions, dangling)?.status ?? '?',
    },
  ],
});
