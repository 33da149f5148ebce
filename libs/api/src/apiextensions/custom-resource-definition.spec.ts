import { fieldErrorMessage } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type * as v1 from '@orch/types/apiextensions/v1';
import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1beta1';
import { describe, expect, it } from 'vitest';
import { create, now, requestContext, update, updatePart } from '../testing/write.js';
import { approvalFinding } from './approval.js';
import { customResourceDefinition as kind } from './custom-resource-definition.js';
import { reconcileDefinitionStatus } from './definition-status.js';
import { deprecationWarningErrors } from './deprecation-warning.js';
import { acceptNames } from './names.js';

const [stable, beta] = kind.versions;
const schema = { openAPIV3Schema: { type: 'object' } };
const names = { plural: 'gears', kind: 'Gear' };
const served = { served: true, storage: false, schema };

function body(spec: object = {}, name = 'gears.example.com') {
  return {
    metadata: { name },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1', ...served, storage: true }],
      ...spec,
    },
  };
}

const createDefinition = (spec: object = {}, name?: string) =>
  create<CustomResourceDefinition>(kind, body(spec, name), stable);

describe('a definition of a custom resource', () => {
  it('defaults names and conversion, and has one stored version', () => {
    const { object, errors } = createDefinition();
    expect(errors).toEqual([]);
    expect(object.spec).toMatchObject({
      version: 'v1',
      names: { singular: 'gear', listKind: 'GearList' },
      conversion: { strategy: 'None' },
      preserveUnknownFields: false,
    });
    expect(object.status).toMatchObject({ conditions: null, storedVersions: ['v1'] });
  });

  it('stores shared settings once and repeats them per version in v1', () => {
    const columns = [{ name: 'A', type: 'string', jsonPath: '.a' }];
    const { object } = createDefinition({
      versions: [
        { name: 'v1', ...served, storage: true, additionalPrinterColumns: columns },
        { name: 'v2', ...served },
      ],
    });
    const stored = object.spec;
    expect(stored.validation).toEqual(schema);
    expect(stored.versions?.map((version) => Object.keys(version).sort())).toEqual([
      ['additionalPrinterColumns', 'name', 'served', 'storage'],
      ['name', 'served', 'storage'],
    ]);
    expect(stored.versions?.[0]?.additionalPrinterColumns?.[0]?.JSONPath).toBe('.a');
    const converted = stable?.fromStored?.(object) as v1.CustomResourceDefinition;
    expect(converted.spec.versions).toMatchObject([
      { name: 'v1', schema, additionalPrinterColumns: columns },
      { name: 'v2', schema },
    ]);
    expect(converted.spec).not.toHaveProperty('version');
  });

  it('accepts the older form with one version name and preserved unknown fields', () => {
    const { object, errors } = create<CustomResourceDefinition>(
      kind,
      {
        metadata: { name: 'gears.example.com' },
        spec: { group: 'example.com', names, version: 'v1' },
      },
      beta,
    );
    expect(errors).toEqual([]);
    expect(object.spec).toMatchObject({
      scope: 'Namespaced',
      preserveUnknownFields: true,
      versions: [{ name: 'v1', served: true, storage: true }],
    });
  });

  it.each<[string, object, string]>([
    ['no group', { group: '' }, 'spec.group: Required value'],
    [
      'a group that is stored elsewhere',
      { group: 'rbac.authorization' },
      'spec.group: Invalid value: "rbac.authorization": is what a group of the system is stored under',
    ],
    [
      'a kind that is its own list',
      { names: { ...names, listKind: 'Gear' } },
      'spec.names.listKind: Invalid value: "Gear": kind and listKind may not be the same',
    ],
    [
      'a warning of a version that is not deprecated',
      { versions: [{ name: 'v1', ...served, storage: true, deprecationWarning: 'x' }] },
      'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions',
    ],
    [
      'settings of a webhook that is not asked',
      { conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } } },
      'spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook',
    ],
  ])('is rejected with %s', (_what, spec, message) => {
    expect(createDefinition(spec).errors).toContain(message);
  });

  it('keeps the parts of storage keys immutable once established', () => {
    const { object } = createDefinition();
    const rename = (changed: CustomResourceDefinition) => {
      changed.spec.names.kind = 'Wheel';
    };
    expect(update(kind, object, rename, stable).errors).toEqual([]);
    acceptNames(object, [], () => false, now);
    expect(update(kind, object, rename, stable).errors).toEqual([
      'spec.names.kind: Invalid value: "Wheel": field is immutable',
    ]);
  });

  it('records every storage version and counts changes of the spec', () => {
    const { object } = createDefinition();
    object.metadata = { ...object.metadata, generation: 1 };
    const { object: changed, errors } = update<CustomResourceDefinition>(
      kind,
      object,
      (next) => {
        next.spec.versions = [
          { name: 'v1', served: true, storage: false },
          { name: 'v2', served: true, storage: true },
        ];
      },
      stable,
    );
    expect(errors).toEqual([]);
    expect(changed.status?.storedVersions).toEqual(['v1', 'v2']);
    expect(changed.metadata?.generation).toBe(2);
  });

  it('validates the status on status writes', () => {
    const { object } = createDefinition();
    const { errors } = updatePart<CustomResourceDefinition>(kind, 'status', object, (next) => {
      next.status = { ...next.status, acceptedNames: { plural: 'No', kind: 'Gear' } };
      next.spec.group = 'other.example.com';
    });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/^status\.acceptedNames\.plural: Invalid value: "No"/);
  });
});

describe('names', () => {
  const other = (plural: string, taken: string, kindName: string) => {
    const { object } = createDefinition({ names: { plural, kind: kindName, shortNames: [taken] } });
    acceptNames(object, [], () => false, now);
    return object;
  };
  const reasonOf = (object: CustomResourceDefinition) =>
    object.status?.conditions?.find(({ type }) => type === 'NamesAccepted')?.reason;

  it.each<[string, object, string]>([
    ['a short name', { shortNames: ['wh'] }, 'ShortNamesConflict'],
    ['a singular', { singular: 'wheels' }, 'SingularConflict'],
    ['a kind', { kind: 'Wheel', listKind: 'X' }, 'KindConflict'],
    ['a kind that is a list elsewhere', { kind: 'WheelList', listKind: 'X' }, 'KindConflict'],
  ])('are not accepted if another definition has the %s', (_what, change, reason) => {
    const { object } = createDefinition({ names: { ...names, ...change } });
    expect(acceptNames(object, [other('wheels', 'wh', 'Wheel')], () => false, now)).toBe(true);
    expect(reasonOf(object)).toBe(reason);
    // A second run changes nothing.
    expect(acceptNames(object, [other('wheels', 'wh', 'Wheel')], () => false, now)).toBe(false);
  });

  it('go to the oldest definition if unassigned', () => {
    const { object: rival } = createDefinition();
    const { object: first } = createDefinition();
    expect(acceptNames(first, [rival], () => false, now)).toBe(true);
    expect(reasonOf(first)).toBe('NoConflicts');
    const { object: second } = createDefinition();
    acceptNames(second, [rival], () => true, now);
    expect(reasonOf(second)).toBe('ListKindConflict');
  });

  it('can conflict later without removing the established condition', () => {
    const object = other('gears', 'g', 'Gear');
    object.spec.names = { ...object.spec.names, shortNames: ['wh'] };
    acceptNames(object, [other('wheels', 'wh', 'Wheel')], () => false, now);
    expect(reasonOf(object)).toBe('ShortNamesConflict');
    expect(object.status?.acceptedNames?.shortNames).toEqual(['g']);
    const established = object.status?.conditions?.find(({ type }) => type === 'Established');
    expect(established?.status).toBe('True');
  });
});

describe('protected groups', () => {
  const group = `gears.${dialect().groupDomain}`;
  const annotation = `api-approved.${dialect().keyDomain}`;
  const approved = (value: string) => {
    const definition = body({ group }, `gears.${group}`);
    Object.assign(definition.metadata, { annotations: { [annotation]: value } });
    return create<CustomResourceDefinition>(kind, definition, stable);
  };

  it.each([
    ['https://example.com/1', [], 'True ApprovedAnnotation'],
    ['unapproved, a trial', [], 'False UnapprovedAnnotation'],
    [
      'yes',
      [expect.stringMatching(/^metadata\.annotations\[api-approved\..*Invalid value: "yes"/)],
      'False InvalidAnnotation',
    ],
  ])('require an approval: %s', (value, errors, finding) => {
    const written = approved(value);
    expect(written.errors).toEqual(errors);
    const { status, reason } = approvalFinding(written.object) ?? {};
    expect(`${status} ${reason}`).toBe(finding);
  });

  it('do not include other groups', () => {
    expect(approvalFinding(createDefinition().object)).toBeUndefined();
  });
});

describe('a deprecation warning', () => {
  it.each([
    ['', 'must not be an empty string'],
    ['x'.repeat(257), 'must be <= 256 characters long'],
    ['a\nb', 'non-printable character found at index 1'],
  ])('rejects %j', (deprecationWarning, message) => {
    const version = { name: 'v1', served: true, storage: true, deprecated: true };
    const errors = deprecationWarningErrors({ ...version, deprecationWarning }, {
      toString: () => 'at',
    } as never);
    expect(errors.map(fieldErrorMessage).join()).toContain(message);
  });
});

describe('non-structural schemas', () => {
  it('are reported by a condition until they are structural', () => {
    const { object } = create<CustomResourceDefinition>(
      kind,
      {
        metadata: { name: 'gears.example.com' },
        spec: {
          group: 'example.com',
          names,
          version: 'v1',
          validation: { openAPIV3Schema: { properties: { a: { type: 'string' } } } },
        },
      },
      beta,
    );
    const conditionsOf = () =>
      object.status?.conditions?.find(({ type }) => type === 'NonStructuralSchema')?.message;
    expect(reconcileDefinitionStatus(object, [], () => false, now)).toBe(true);
    expect(conditionsOf()).toContain('spec.validation.openAPIV3Schema.type: Required value');
    object.spec.validation = { openAPIV3Schema: { type: 'object' } };
    expect(reconcileDefinitionStatus(object, [], () => false, now)).toBe(true);
    expect(conditionsOf()).toBeUndefined();
  });
});

describe('deletion', () => {
  it('sets the terminating condition', () => {
    const { object } = createDefinition();
    kind.prepareForDelete?.(object, requestContext());
    expect(object.status?.conditions).toMatchObject([
      { type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending' },
    ]);
  });
});
