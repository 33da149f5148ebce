/**
 * Computes the active flow schemas and priority levels from the stored ones. Mandatory objects are
 * required to classify every request: a missing one is replaced by its fixed form. A deleted level
 * with requests retains its share until the last of them ends.
 */
import { mandatoryObject, systemFlowSchemas, systemPriorityLevels } from '@orch/api';
import type {
  FlowSchema,
  PriorityLevelConfiguration,
} from '@orch/types/flowcontrol.apiserver/v1beta1';

export interface FlowControlObjects {
  readonly schemas: readonly FlowSchema[];
  readonly levels: readonly PriorityLevelConfiguration[];
}

/** A priority level that exists, or existed. */
export interface ActiveLevel {
  readonly object: PriorityLevelConfiguration;
  readonly isIdle: boolean;
}

export interface LevelPlan {
  readonly object: PriorityLevelConfiguration;
  /** Maximum number of executing requests; undefined: unlimited. */
  readonly seatCount: number | undefined;
  /** The level is removed when it has no more requests. */
  readonly isQuiescing: boolean;
}

export function nameOf({ metadata }: FlowSchema | PriorityLevelConfiguration): string {
  return metadata?.name ?? '';
}

function mandatory<T extends FlowSchema | PriorityLevelConfiguration>(all: readonly T[]): T[] {
  return all.filter((object) => mandatoryObject(all, nameOf(object)) !== undefined);
}

/** Level plans by name. `seatCount`: total of the server, shared by the levels. */
export function planLevels(
  { levels }: FlowControlObjects,
  active: readonly ActiveLevel[],
  seatCount: number,
): Map<string, LevelPlan> {
  const wanted = new Map(levels.map((level) => [nameOf(level), level]));
  const lasting = new Map(active.map(({ object }) => [nameOf(object), object]));
  for (const level of mandatory(systemPriorityLevels())) {
    const name = nameOf(level);
    if (!wanted.has(name)) wanted.set(name, lasting.get(name) ?? level);
  }
  const quiescing = active
    .filter(({ object, isIdle }) => !isIdle && !wanted.has(nameOf(object)))
    .map(({ object }) => object);
  const all = [...wanted.values(), ...quiescing];
  const sharesTotal = all.reduce((sum, level) => sum + sharesOf(level), 0);
  return new Map(
    all.map((object) => {
      const shares = sharesOf(object);
      // Rounded up, so that no level is without a seat; the sum may exceed the total slightly.
      const seats = shares === 0 ? undefined : Math.ceil((seatCount * shares) / sharesTotal);
      const isQuiescing = quiescing.includes(object);
      return [nameOf(object), { object, seatCount: seats, isQuiescing }];
    }),
  );
}

/** Returns 0 for an unlimited level. */
function sharesOf({ spec }: PriorityLevelConfiguration): number {
  return spec?.type === 'Exempt' ? 0 : (spec?.limited?.assuredConcurrencyShares ?? 1);
}

export function catchAllOf(schemas: readonly FlowSchema[]): FlowSchema {
  return schemas.find((schema) => nameOf(schema) === 'catch-all')!;
}

/** Schemas whose level exists and mandatory schemas, in order of precedence. */
export function orderSchemas(
  { schemas }: FlowControlObjects,
  levels: ReadonlyMap<string, LevelPlan>,
): FlowSchema[] {
  const placed = schemas.filter(({ spec }) => {
    const level = levels.get(spec?.priorityLevelConfiguration.name ?? '');
    return level && !level.isQuiescing;
  });
  const names = new Set(placed.map(nameOf));
  const missing = mandatory(systemFlowSchemas()).filter((schema) => !names.has(nameOf(schema)));
  return [...placed, ...missing].sort(
    (a, b) => precedenceOf(a) - precedenceOf(b) || (nameOf(a) < nameOf(b) ? -1 : 1),
  );
}

function precedenceOf({ spec }: FlowSchema): number {
  return spec?.matchingPrecedence ?? 0;
}
