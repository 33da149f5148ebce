import { describe, expect, it } from 'vitest';
import type { ResourceDefinition } from '../definition.js';
import { create, decode } from '../testing/write.js';
import { localSubjectAccessReview } from './local-subject-access-review.js';
import { selfSubjectAccessReview } from './self-subject-access-review.js';
import { subjectAccessReview } from './subject-access-review.js';

const pods = { verb: 'get', resource: 'pods', namespace: 'ns' };
const neither =
  'spec.resourceAttributes: Invalid value: "null": exactly one of nonResourceAttributes or resourceAttributes must be specified';
const noSubject = 'spec.user: Invalid value: "": at least one of user or group must be specified';
const none = { metadata: {} };

describe('access reviews', () => {
  it.each<[ResourceDefinition, object, string[]]>([
    [selfSubjectAccessReview, { spec: { resourceAttributes: pods } }, []],
    [selfSubjectAccessReview, { spec: {} }, [neither]],
    [
      selfSubjectAccessReview,
      { spec: { resourceAttributes: pods, nonResourceAttributes: { path: '/x' } } },
      [expect.stringMatching(/^spec.nonResourceAttributes: .* with resourceAttributes$/) as string],
    ],
    [subjectAccessReview, { spec: { user: 'a', resourceAttributes: pods } }, []],
    [subjectAccessReview, { spec: {} }, [neither, noSubject]],
    [
      subjectAccessReview,
      { metadata: { name: 'x' }, spec: { user: 'a', resourceAttributes: pods } },
      [expect.stringMatching(/^metadata: Invalid value: .*: must be empty$/) as string],
    ],
    [
      localSubjectAccessReview,
      { metadata: { namespace: 'ns' }, spec: { groups: ['g'], resourceAttributes: pods } },
      [],
    ],
    [
      localSubjectAccessReview,
      { metadata: { namespace: 'other' }, spec: { user: 'a', resourceAttributes: pods } },
      ['spec.resourceAttributes.namespace: Invalid value: "ns": must match metadata.namespace'],
    ],
    [
      localSubjectAccessReview,
      { spec: { user: 'a', nonResourceAttributes: { path: '/x' } } },
      [expect.stringMatching(/^spec.nonResourceAttributes: .*: disallowed on this kind/) as string],
    ],
  ])('are validated: %#', (definition, body, messages) => {
    const kindErrors = create(definition, { ...none, ...body }).errors.filter(
      (message) => !message.startsWith('metadata.name'),
    );
    expect(kindErrors).toEqual(messages);
  });

  it('convert the groups of their subject in both versions', () => {
    const older = subjectAccessReview.versions[1]!;
    const stored = decode(subjectAccessReview, { spec: { group: ['a', 'b'] } }, older);
    expect(stored).toMatchObject({ spec: { groups: ['a', 'b'] } });
    expect(older.fromStored?.(stored)).toMatchObject({ spec: { group: ['a', 'b'] } });
  });
});
