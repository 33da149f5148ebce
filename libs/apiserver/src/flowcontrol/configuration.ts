/**
 * From the flow schemas and priority levels that are stored to those that count. Without the mandatory
 * ones no request could be placed: where they are missing their fixed form stands in. A level that is no
 * more and has requests keeps its share until the last of them has ended.
 */
import { mandatoryOf, systemFlowSchemas, systemPriorityLevels } from '@orch/api';
import type {
  FlowSchema,
  PriorityLevelConfiguration,
} from '@orch/types/flowcontrol.apiserver/v1beta1';

export interface FlowControlObjects {
  readonly schemas: readonly FlowSchema[];
  readonly levels: readonly PriorityLevelConfiguration[];
}

/** A level that there is, or was. */
export interface KnownLevel {
  readonly object: PriorityLevelConfiguration;
  readonly isIdle: boolean;
}

export interface LevelPlan {
  readonly object: PriorityLevelConfiguration;
  /** Requests that may execute at a time; undefined: any number. */
  readonly seatCount: number | undefined;
  /** To go once it has no requests. */
  readonly isQuiescing: boolean;
}

export function nameOf({ metadata }: FlowSchema | PriorityLevelConfiguration): string {
  return metadata?.name ?? '';
}

function mandatory<T extends FlowSchema | PriorityLevelConfiguration>(all: readonly T[]): T[] {
  return all.filter((object) => mandatoryOf(all, nameOf(object)) !== undefined);
}

/** By name. `seatCount`: of the whole server, to be shared. */
export function planLevels(
  { levels }: FlowControlObjects,
  known: readonly KnownLevel[],
  seatCount: number,
): Map<string, LevelPlan> {
  const wanted = new Map(levels.map((level) => [nameOf(level), level]));
  const lasting = new Map(known.map(({ object }) => [nameOf(object), object]));
  for (const level of mandatory(systemPriorityLevels())) {
    const name = nameOf(level);
    if (!wanted.has(name)) wanted.set(name, lasting.get(name) ?? level);
  }
  const quiescing = known
    .filter(({ object, isIdle }) => !isIdle && !wanted.has(nameOf(object)))
    .map(({ object }) => object);
  const all = [...wanted.values(), ...quiescing];
  const sharesTotal = all.reduce((sum, level) => sum + sharesOf(level), 0);
  return new Map(
    all.map((object) => {
      const shares = sharesOf(object);
      // Rounded up: together they may be a few more than there are, and none is without.
      const seats = shares === 0 ? undefined : Math.ceil((seatCount * shares) / sharesTotal);
      const isQuiescing = quiescing.includes(object);
      return [nameOf(object), { object, seatCount: seats, isQuiescing }];
    }),
  );
}

/** 0 for a level that is not limited. */
function sharesOf({ spec }: PriorityLevelConfiguration): number {
  return spec?.type === 'Exempt' ? 0 : (spec?.limited?.assuredConcurrencyShares ?? 1);
}

export function catchAllOf(schemas: readonly FlowSchema[]): FlowSchema {
  return schemas.find((schema) => nameOf(schema) === 'catch-all')!;
}

/** Those whose level there is, mandatory ones in any case, in the order in which they count. */
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
