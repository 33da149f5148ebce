/**
 * What older versions of HorizontalPodAutoscaler have no fields for, as annotations: lists of metrics and
 * conditions in the shapes of `v1`, and the behavior with its members capitalised. The annotations exist
 * only in the versions that need them; what cannot be read there is dropped, as nothing else refers to it.
 */
import { type Codec, codecFor, SchemaError } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type * as older from '@orch/types/autoscaling/v1';
import type {
  HorizontalPodAutoscalerBehavior,
  HPAScalingRules,
} from '@orch/types/autoscaling/v2beta2';
import type { ObjectMeta } from '@orch/types/meta/v1';

export interface AnnotatedParts {
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

function annotationKey(part: keyof AnnotatedParts): string {
  return dialect().key(names[part], 'autoscaling.alpha');
}

/** The metadata with these parts, and none other, as annotations. */
export function withParts(metadata: ObjectMeta | undefined, parts: AnnotatedParts): ObjectMeta {
  const annotations = { ...withoutParts(metadata).annotations };
  for (const part of Object.keys(listTypes) as (keyof typeof listTypes)[]) {
    const list = parts[part] ?? [];
    const codec: Codec<object> = codecFor(listTypes[part]);
    if (list.length === 0) continue;
    annotations[annotationKey(part)] = `[${list.map((item) => codec.toJson(item)).join(',')}]`;
  }
  if (parts.behavior) annotations[annotationKey('behavior')] = behaviorText(parts.behavior);
  return Object.keys(annotations).length === 0 ? { ...metadata } : { ...metadata, annotations };
}

export function withoutParts(metadata: ObjectMeta | undefined): ObjectMeta {
  const { annotations, ...others } = metadata ?? {};
  const kept = { ...annotations };
  for (const part of Object.keys(names) as (keyof AnnotatedParts)[])
    delete kept[annotationKey(part)];
  return Object.keys(kept).length === 0 ? others : { ...others, annotations: kept };
}

export function readParts(metadata: ObjectMeta | undefined): AnnotatedParts {
  const read = <T>(part: keyof AnnotatedParts, parse: (value: unknown) => T): T | undefined => {
    const text = metadata?.annotations?.[annotationKey(part)];
    return text === undefined ? undefined : readable(() => parse(JSON.parse(text)));
  };
  const listOf = <T>(part: keyof typeof listTypes) =>
    read(part, (value) => {
      if (!Array.isArray(value)) throw new SchemaError('expected a list');
      const codec = codecFor<T>(listTypes[part]);
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

/** Member names with a small first letter, all the way down. */
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
