/** Users and groups: `runAsUser`, `runAsGroup`, `fsGroup` and `supplementalGroups`. */
import { type FieldError, type FieldPath, fieldError, Literal, path } from '@orch/apimachinery';
import type { IDRange } from '@orch/types/policy/v1beta1';
import { effectiveContext, setContext, setPodContext } from './pod-containers.js';
import type {
  ContainerMutator,
  ContainerValidator,
  PodMutator,
  PodValidator,
} from './policy-strategy.js';

interface GroupStrategy {
  readonly rule?: string;
  readonly ranges?: readonly IDRange[];
}

const podContext = path('spec', 'securityContext');

export const mutateGroups: PodMutator = ({ spec }, pod) => {
  const { supplementalGroups, fsGroup } = pod.spec?.securityContext ?? {};
  const supplemental = requiredId(spec.supplementalGroups);
  if (!supplementalGroups?.length && supplemental !== undefined) {
    setPodContext(pod, { supplementalGroups: [supplemental] });
  }
  const group = requiredId(spec.fsGroup);
  if (fsGroup === undefined && group !== undefined) setPodContext(pod, { fsGroup: group });
};

export const validateGroups: PodValidator = ({ spec }, pod) => {
  const { supplementalGroups = [], fsGroup } = pod.spec?.securityContext ?? {};
  const groups = fsGroup === undefined ? [] : [fsGroup];
  return [
    ...checkGroups(spec.fsGroup, groups, podContext.child('fsGroup')),
    ...checkGroups(
      spec.supplementalGroups,
      supplementalGroups,
      podContext.child('supplementalGroups'),
    ),
  ];
};

export const mutateRunAs: ContainerMutator = ({ spec }, pod, container) => {
  const { runAsUser, runAsGroup } = effectiveContext(pod, container);
  const user = requiredId(spec.runAsUser);
  if (runAsUser === undefined && user !== undefined) setContext(container, { runAsUser: user });
  const group = requiredId(spec.runAsGroup);
  if (runAsGroup === undefined && group !== undefined) setContext(container, { runAsGroup: group });
};

/** The node checks the user of the image. */
export const mutateNonRoot: ContainerMutator = ({ spec }, pod, container) => {
  const { runAsUser, runAsNonRoot } = effectiveContext(pod, container);
  const isOpen = runAsUser === undefined && runAsNonRoot === undefined;
  if (isOpen && spec.runAsUser?.rule === 'MustRunAsNonRoot') {
    setContext(container, { runAsNonRoot: true });
  }
};

export const validateRunAs: ContainerValidator = ({ spec }, pod, container, fieldPath) => {
  const at = fieldPath.child('securityContext');
  const { runAsUser, runAsGroup, runAsNonRoot } = effectiveContext(pod, container);
  return [
    ...(spec.runAsUser?.rule === 'MustRunAsNonRoot'
      ? checkNonRoot(runAsNonRoot, runAsUser, at)
      : checkUser(spec.runAsUser, runAsUser, at.child('runAsUser'))),
    ...checkGroups(spec.runAsGroup, runAsGroup === undefined ? [] : [runAsGroup], at),
  ];
};

/** The id of pods that name none; undefined if none is required. */
function requiredId({ rule, ranges }: GroupStrategy = {}): number | undefined {
  return rule === 'MustRunAs' ? ranges?.[0]?.min : undefined;
}

function checkUser(
  { rule, ranges = [] }: GroupStrategy,
  user: number | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  if (rule !== 'MustRunAs') return [];
  if (user === undefined) return [fieldError.required(fieldPath)];
  if (isInRanges(user, ranges)) return [];
  return [fieldError.invalid(fieldPath, user, `must be in the ranges: ${rangesText(ranges)}`)];
}

function checkNonRoot(
  runAsNonRoot: boolean | undefined,
  user: number | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const flag = fieldPath.child('runAsNonRoot');
  if (runAsNonRoot === undefined && user === undefined) {
    return [fieldError.required(flag, 'must be true')];
  }
  if (runAsNonRoot === false) return [fieldError.invalid(flag, false, 'must be true')];
  if (user !== 0) return [];
  const message = 'running with the root UID is forbidden';
  return [fieldError.invalid(fieldPath.child('runAsUser'), user, message)];
}

function checkGroups(
  { rule, ranges = [] }: GroupStrategy = {},
  groups: readonly number[],
  fieldPath: FieldPath,
): FieldError[] {
  if (rule !== 'MustRunAs' && rule !== 'MayRunAs') return [];
  if (rule === 'MustRunAs' && groups.length === 0 && ranges.length > 0) {
    const message = 'unable to validate empty groups against required ranges';
    return [fieldError.invalid(fieldPath, groupList(groups), message)];
  }
  return groups
    .filter((group) => !isInRanges(group, ranges))
    .map((group) =>
      fieldError.invalid(
        fieldPath,
        groupList(groups),
        `group ${group} must be in the ranges: ${rangesText(ranges)}`,
      ),
    );
}

function isInRanges(id: number, ranges: readonly IDRange[]): boolean {
  return ranges.some(({ min, max }) => id >= min && id <= max);
}

/** As upstream prints a list of groups. */
function groupList(groups: readonly number[]): Literal {
  return new Literal(groups.length === 0 ? '[]int64(nil)' : `[]int64{${groups.join(', ')}}`);
}

/** As upstream prints them: `[{1 10} {20 30}]`. */
function rangesText(ranges: readonly IDRange[]): string {
  return `[${ranges.map(({ min, max }) => `{${min} ${max}}`).join(' ')}]`;
}
