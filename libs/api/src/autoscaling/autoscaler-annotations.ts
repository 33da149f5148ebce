/**
 * Stores fields that older versions of HorizontalPodAutoscaler lack as annotations: metrics and
 * conditions in the shapes of `v1`, and the behavior with capitalised member names. The annotations
 * exist only in the versions that need them; unreadable content is dropped, because nothing else
 * uses it.
 */
import { type Codec, codecFor, SchemaError } from '@orch/apimachinery';
import { dialect, knownKeys } from '@orch/component';
import type * as older from '@orch/types/autoscaling/v1';
import type {
  HorizontalPodAutoscalerBehavior,
  HPAScalingRules,
} from '@orch/types/autoscaling/v2beta2';
import type { ObjectMeta } from '@orch/types/meta/v1';

export interface AnnotatedFields {
  metrics?: readonly older.MetricSpec[];
  currentMetrics?: readonly older.MetricStatus[];
  conditions?: readonly older.HorizontalPodAutoscalerCondition[];
  behavior?: HorizontalPodAutoscalerBehavior;
}

const names = {
  metrics: 'metrics',
  currentMetrics: 'current-metrics',
  conditions: 'conditions',
  behavior: 'behavior',
} as const;

const listTypes = {
  metrics: 'autoscaling/v1.MetricSpec',
  currentMetrics: 'autoscaling/v1.MetricStatus',
  conditions: 'autoscaling/v1.HorizontalPodAutoscalerCondition',
} as const;
const behaviorType = 'autoscaling/v2beta2.HorizontalPodAutoscalerBehavior';

function annotationKey(field: keyof AnnotatedFields): string {
  return dialect().key(names[field], 'autoscaling.alpha');
}

/** Replaces the annotations of the metadata with these fields. */
export function withAnnotatedFields(
  metadata: ObjectMeta | undefined,
  fields: AnnotatedFields,
): ObjectMeta {
  const annotations = { ...withoutAnnotatedFields(metadata).annotations };
  for (const field of knownKeys(listTypes)) {
    const list = fields[field] ?? [];
    const codec: Codec<object> = codecFor(listTypes[field]);
    if (list.length === 0) continue;
    annotations[annotationKey(field)] = `[${list.map((item) => codec.toJson(item)).join(',')}]`;
  }
  if (fields.behavior) annotations[annotationKey('behavior')] = behaviorText(fields.behavior);
  return Object.keys(annotations).length === 0 ? { ...metadata } : { ...metadata, annotations };
}

export function withoutAnnotatedFields(metadata: ObjectMeta | undefined): ObjectMeta {
  const { annotations, ...others } = metadata ?? {};
  const remaining = { ...annotations };
  for (const field of knownKeys(names)) delete remaining[annotationKey(field)];
  return Object.keys(remaining).length === 0 ? others : { ...others, annotations: remaining };
}

export function readAnnotatedFields(metadata: ObjectMeta | undefined): AnnotatedFields {
  const read = <T>(field: keyof AnnotatedFields, parse: (value: unknown) => T): T | undefined => {
    const text = metadata?.annotations?.[annotationKey(field)];
    return text === undefined ? undefined : readable(() => parse(JSON.parse(text)));
  };
  const listOf = <T>(field: keyof typeof listTypes) =>
    read(field, (value) => {
      if (!Array.isArray(value)) throw new SchemaError('expected a list');
      const codec = codecFor<T>(listTypes[field]);
      return value.map((item: unknown) => codec.fromJson(item));
    });
  return {
    metrics: listOf<older.MetricSpec>('metrics'),
    currentMetrics: listOf<older.MetricStatus>('currentMetrics'),
    conditions: listOf<older.HorizontalPodAutoscalerCondition>('conditions'),
    behavior: read('behavior', (value) =>
      codecFor<HorizontalPodAutoscalerBehavior>(behaviorType).fromJson(withSmallHeads(value)),
    ),
  };
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SchemaError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function behaviorText({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): string {
  return JSON.stringify({ ScaleUp: rules(scaleUp), ScaleDown: rules(scaleDown) });
}

function rules(given: HPAScalingRules | undefined): object | null {
  if (!given) return null;
  const { stabilizationWindowSeconds, selectPolicy, policies } = given;
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds ?? null,
    SelectPolicy: selectPolicy ?? null,
    Policies:
      policies?.map(({ type, value, periodSeconds }) => ({
        Type: type,
        Value: value,
        PeriodSeconds: periodSeconds,
      })) ?? null,
  };
}

/** Converts the first letter of member names to lower case at every level. */
function withSmallHeads(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSmallHeads);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.charAt(0).toLowerCase() + name.slice(1),
      withSmallHeads(member),
    ]),
  );
}
