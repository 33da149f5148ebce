/** PriorityLevelConfiguration: how many requests of a level run at once, and what becomes of the others. */
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
/** Bits of the hash by which a request is dealt its queues. */
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
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if ((name === 'exempt') !== (type === 'Exempt')) {
    errors.push(
      fieldError.invalid(
        at.child('type'),
        type,
        "type must be 'Exempt' if and only if name is 'exempt'",
      ),
    );
  }
  const limitedAt = at.child('limited');
  errors.push(...checkOneOf(type, ['Exempt', 'Limited'], at.child('type')));
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

function checkPositive(value: number, at: FieldPath): FieldError[] {
  return value > 0 ? [] : [fieldError.invalid(at, value, 'must be positive')];
}

function validateResponse({ type, queuing }: LimitResponse, at: FieldPath): FieldError[] {
  const queuingAt = at.child('queuing');
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
      return checkOneOf(type, ['Queue', 'Reject'], at.child('type'));
  }
}

function validateQueuing(
  { queues = 0, handSize = 0, queueLengthLimit = 0 }: QueuingConfiguration,
  at: FieldPath,
): FieldError[] {
  const handAt = at.child('handSize');
  const queuesAt = at.child('queues');
  const errors = [
    ...checkPositive(queueLengthLimit, at.child('queueLengthLimit')),
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
      description: 'Whether requests of the level are limited.',
      cell: ({ spec }) => spec?.type ?? '',
    },
    {
      name: 'AssuredConcurrencyShares',
      type: 'string',
      description: 'The share of what the server does at once.',
      cell: ({ spec }) => spec?.limited?.assuredConcurrencyShares ?? none,
    },
    {
      name: 'Queues',
      type: 'string',
      description: 'How many queues requests wait in.',
      cell: (object) => queuingOf(object)?.queues ?? none,
    },
    {
      name: 'HandSize',
      type: 'string',
      description: 'How many queues one flow of requests has.',
      cell: (object) => queuingOf(object)?.handSize ?? none,
    },
    {
      name: 'QueueLengthLimit',
      type: 'string',
      description: 'How many requests wait in one queue.',
      cell: (object) => queuingOf(object)?.queueLengthLimit ?? none,
    },
    ageColumn(),
  ],
});
