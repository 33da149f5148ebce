import type {
  FlowSchema,
  PriorityLevelConfiguration,
} from '@orch/types/flowcontrol.apiserver/v1beta1';
import { describe, expect, it } from 'vitest';
import { cells, create, now, update, updatePart } from '../testing/write.js';
import { danglingCondition, flowSchema } from './flow-schema.js';
import { priorityLevelConfiguration } from './priority-level-configuration.js';
import { isSpecManaged, systemFlowSchemas, systemPriorityLevels } from './system-objects.js';

const resourceRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['ns'] };
const rule = { subjects: [{ kind: 'User', user: { name: 'a' } }], resourceRules: [resourceRule] };
const spec = { priorityLevelConfiguration: { name: 'system' }, rules: [rule] };
const schema = (change: object = {}) =>
  create<FlowSchema>(flowSchema, { spec: { ...spec, ...change } });
const limited = (change: object) =>
  create<PriorityLevelConfiguration>(priorityLevelConfiguration, {
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...change } },
  });

describe('flow schemas', () => {
  it('get defaults and columns', () => {
    const { object, errors } = schema();
    expect(errors).toEqual([]);
    expect(object.spec?.matchingPrecedence).toBe(1000);
    expect(cells(flowSchema, object)).toMatchObject({
      PriorityLevel: 'system',
      MatchingPrecedence: 1000,
      DistinguisherMethod: '<none>',
      MissingPL: '?',
    });
  });

  it.each<[object, string[]]>([
    [
      { matchingPrecedence: 1 },
      [
        "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
      ],
    ],
    [
      { matchingPrecedence: 10_001 },
      ['spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000'],
    ],
    [
      { priorityLevelConfiguration: { name: '' } },
      ['spec.priorityLevelConfiguration.name: Required value: must reference a priority level'],
    ],
    [
      { distinguisherMethod: { type: 'ByMood' } },
      [
        'spec.distinguisherMethod.type: Unsupported value: flowcontrol.FlowDistinguisherMethod{Type:"ByMood"}: supported values: "ByNamespace", "ByUser"',
      ],
    ],
    [
      { rules: [{ subjects: [] }] },
      [
        'spec.rules[0].subjects: Required value: subjects must contain at least one value',
        'spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
      ],
    ],
    [
      { rules: [{ ...rule, subjects: [{ kind: 'Group', user: { name: 'a' } }] }] },
      [
        "spec.rules[0].subjects[0].group: Required value: group is required when subject kind is 'Group'",
        "spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'",
      ],
    ],
    [
      { rules: [{ ...rule, resourceRules: [{ ...resourceRule, verbs: ['fly'] }] }] },
      [
        expect.stringMatching(
          /^spec.rules\[0\].resourceRules\[0\].verbs: Unsupported value: \[\]string\{"fly"\}/,
        ) as string,
      ],
    ],
    [
      { rules: [{ ...rule, resourceRules: [{ ...resourceRule, namespaces: [] }] }] },
      [
        'spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace',
      ],
    ],
    [
      {
        rules: [
          { ...rule, nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/a*', 'b', '/c/*'] }] },
        ],
      },
      [
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/a*": wildcard can only do suffix matching',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "b": must start with slash',
      ],
    ],
  ])('reject %j', (change, messages) => {
    expect(schema(change).errors).toEqual(messages);
  });

  it('count changes of the spec, and keep the spec on status writes', () => {
    const { object } = schema();
    object.metadata!.generation = 1;
    const changed = update(flowSchema, object, (draft: FlowSchema) => {
      draft.spec!.matchingPrecedence = 7;
    });
    expect(changed.object.metadata?.generation).toBe(2);
    const written = updatePart(flowSchema, 'status', object, (draft) => {
      draft.spec!.matchingPrecedence = 7;
      draft.metadata!.labels = { a: 'b' };
      draft.status = { conditions: [{ type: 'A' }, { type: 'A' }, {}] };
    });
    expect(written.object).toMatchObject({ spec: object.spec, metadata: object.metadata });
    expect(written.errors).toEqual([
      'status.conditions[1].type: Duplicate value: "A"',
      'status.conditions[2].type: Required value: must not be empty',
    ]);
  });

  it('update the dangling condition only on a change', () => {
    const { object } = schema();
    const condition = danglingCondition(object, false, now);
    expect(condition).toMatchObject({ status: 'True', reason: 'NotFound' });
    object.status = { conditions: [condition!] };
    expect(danglingCondition(object, false, now)).toBeUndefined();
    expect(danglingCondition(object, true, now)?.message).toBe(
      'This FlowSchema references the PriorityLevelConfiguration object named "system" and it exists',
    );
    expect(cells(flowSchema, object)).toMatchObject({ MissingPL: 'True' });
  });
});

describe('priority levels', () => {
  it('get defaults and columns', () => {
    const { object, errors } = limited({ limitResponse: { type: 'Queue', queuing: {} } });
    expect(errors).toEqual([]);
    expect(cells(priorityLevelConfiguration, object)).toMatchObject({
      AssuredConcurrencyShares: 30,
      Queues: 64,
      HandSize: 8,
      QueueLengthLimit: 50,
    });
  });

  it.each<[object, string[]]>([
    [
      { assuredConcurrencyShares: -1 },
      ['assuredConcurrencyShares: Invalid value: -1: must be positive'],
    ],
    [
      { limitResponse: { type: 'Reject', queuing: {} } },
      [
        'limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited',
      ],
    ],
    [
      { limitResponse: { type: 'Queue' } },
      [
        'limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited',
      ],
    ],
    [
      { limitResponse: { type: 'Queue', queuing: { queues: 2, handSize: 3 } } },
      ['limitResponse.queuing.handSize: Invalid value: 3: should not be greater than queues (2)'],
    ],
    [
      { limitResponse: { type: 'Queue', queuing: { queues: 1024, handSize: 7 } } },
      [
        'limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 1024 and handSize 7 should not be greater than 60',
      ],
    ],
    [
      { limitResponse: { type: 'Hide' } },
      ['limitResponse.type: Unsupported value: "Hide": supported values: "Queue", "Reject"'],
    ],
  ])('reject %j', (change, messages) => {
    const below = messages.map((message) => `spec.limited.${message}`);
    expect(limited(change).errors).toEqual(below);
  });

  it('require the exempt type exactly for the exempt name', () => {
    const { errors } = create(priorityLevelConfiguration, { spec: { type: 'Exempt' } });
    expect(errors).toEqual([
      "spec.type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is 'exempt'",
    ]);
  });
});

describe('the initial flow control objects', () => {
  it('are valid, and have a level for each schema', () => {
    const levels = new Set(systemPriorityLevels().map(({ metadata }) => metadata?.name));
    for (const schema of systemFlowSchemas()) {
      expect(create(flowSchema, schema).errors).toEqual([]);
      expect(levels).toContain(schema.spec?.priorityLevelConfiguration.name);
    }
    for (const level of systemPriorityLevels()) {
      expect(create(priorityLevelConfiguration, level).errors).toEqual([]);
    }
  });
  it.each<[string | undefined, number, boolean, boolean]>([
    ['true', 3, false, true],
    ['false', 1, false, false],
    ['false', 1, true, true],
    [undefined, 1, false, true],
    [undefined, 2, false, false],
  ])(
    'are managed by the server with annotation %s, generation %i, mandatory %s',
    (autoUpdate, generation, isMandatory, isKept) => {
      const annotations: Record<string, string> =
        autoUpdate === undefined ? {} : { 'apf.orch.io/autoupdate-spec': autoUpdate };
      expect(isSpecManaged({ metadata: { annotations, generation } }, isMandatory)).toBe(isKept);
    },
  );
  it('cannot be changed if mandatory', () => {
    const [exempt] = systemFlowSchemas();
    exempt!.spec!.rules = [];
    expect(create(flowSchema, exempt!).errors).toEqual([
      expect.stringMatching(
        /^spec: Invalid value: .*: spec of 'exempt' must equal the fixed value$/,
      ),
    ]);
  });
});
