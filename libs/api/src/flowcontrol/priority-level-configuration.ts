/** PriorityLevelConfiguration: the concurrency of a level, and whether excess requests queue. */
import { type FieldError, type FieldPath, fieldError, path } from '@orch/apimachinery';
import type {
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '@orch/types/flowcontrol.apiserver/v1beta1';
import { define } from '../definition.js';
import { ageColumn, nameColumn, none } from '../shared/columns.js';
import { checkOneOf } from '../shared/rules.js';
import { flowKind, validateConditions, validateFixed } from './shared.js';
import { systemPriorityLevels } from './system-objects.js';

const queuesMax = 10_000_000;
/** Bits of the hash that selects the queues of a request. */
const hashBits = 60;

function validateLevel(object: PriorityLevelConfiguration): FieldError[] {
  return [
    ...validateSpec(object.spec ?? { type: '' }, object.metadata?.name ?? '', path('spec')),
    ...validateFixed(object, systemPriorityLevels()),
    ...validateConditions(object),
  ];
}

function validateSpec(
  { type, limited }: PriorityLevelConfigurationSpec,
  name: string,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if ((name === 'exempt') !== (type === 'Exempt')) {
    errors.push(
      fieldError.invalid(
        fieldPath.child('type'),
        type,
        "type must be 'Exempt' if and only if name is 'exempt'",
      ),
    );
  }
  const limitedAt = fieldPath.child('limited');
  errors.push(...checkOneOf(type, ['Exempt', 'Limited'], fieldPath.child('type')));
  if (type === 'Exempt' && limited) {
    errors.push(fieldError.forbidden(limitedAt, 'must be nil if the type is not Limited'));
  }
  if (type !== 'Limited') return errors;
  if (!limited) {
    return [...errors, fieldError.required(limitedAt, 'must not be empty when type is Limited')];
  }
  return [
    ...errors,
    ...checkPositive(
      limited.assuredConcurrencyShares ?? 0,
      limitedAt.child('assuredConcurrencyShares'),
    ),
    ...validateResponse(limited.limitResponse ?? { type: '' }, limitedAt.child('limitResponse')),
  ];
}

function checkPositive(value: number, fieldPath: FieldPath): FieldError[] {
  return value > 0 ? [] : [fieldError.invalid(fieldPath, value, 'must be positive')];
}

function validateResponse({ type, queuing }: LimitResponse, fieldPath: FieldPath): FieldError[] {
  const queuingAt = fieldPath.child('queuing');
  const condition = 'if limited.limitResponse.type is';
  switch (type) {
    case 'Reject':
      return queuing
        ? [fieldError.forbidden(queuingAt, `must be nil ${condition} not Limited`)]
        : [];
    case 'Queue':
      return queuing
        ? validateQueuing(queuing, queuingAt)
        : [fieldError.required(queuingAt, `must not be empty ${condition} Limited`)];
    default:
      return checkOneOf(type, ['Queue', 'Reject'], fieldPath.child('type'));
  }
}

function validateQueuing(
  { queues = 0, handSize = 0, queueLengthLimit = 0 }: QueuingConfiguration,
  fieldPath: FieldPath,
): FieldError[] {
  const handAt = fieldPath.child('handSize');
  const queuesAt = fieldPath.child('queues');
  const errors = [
    ...checkPositive(queueLengthLimit, fieldPath.child('queueLengthLimit')),
    ...checkPositive(queues, queuesAt),
  ];
  if (queues > queuesMax) {
    errors.push(fieldError.invalid(queuesAt, queues, `must not be greater than ${queuesMax}`));
  }
  const neededBits = Math.ceil(Math.log2(queues) * handSize);
  if (handSize <= 0) errors.push(...checkPositive(handSize, handAt));
  else if (handSize > queues) {
    errors.push(
      fieldError.invalid(handAt, handSize, `should not be greater than queues (${queues})`),
    );
  } else if (neededBits > hashBits) {
    errors.push(
      fieldError.invalid(
        handAt,
        handSize,
        `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${hashBits}`,
      ),
    );
  }
  return errors;
}

const queuingOf = ({ spec }: PriorityLevelConfiguration) => spec?.limited?.limitResponse?.queuing;

export const priorityLevelConfiguration = define<PriorityLevelConfiguration>({
  ...flowKind<PriorityLevelConfiguration>('PriorityLevelConfiguration'),
  validate: validateLevel,
  columns: [
    nameColumn(),
    {
      name: 'Type',
      type: 'string',
      description: 'Whether the level is limited or exempt.',
      cell: ({ spec }) => spec?.type ?? '',
    },
    {
      name: 'AssuredConcurrencyShares',
      type: 'string',
      description: "Share of the server's concurrency.",
      cell: ({ spec }) => spec?.limited?.assuredConcurrencyShares ?? none,
    },
    {
      name: 'Queues',
      type: 'string',
      description: 'Number of queues.',
      cell: (object) => queuingOf(object)?.queues ?? none,
    },
    {
      name: 'HandSize',
      type: 'string',
      description: 'Number of queues per flow.',
      cell: (object) => queuingOf(object)?.handSize ?? none,
    },
    {
      name: 'QueueLengthLimit',
      type: 'string',
      description: 'Length limit of each queue.',
      cell: (object) => queuingOf(object)?.queueLengthLimit ?? none,
    },
    ageColumn(),
  ],
});
