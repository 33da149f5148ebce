/**
 * The flow control that every cluster has: its objects are made again where they are missing, and their
 * specs put back where the server keeps them. Says on every schema whether its priority level exists.
 */
import {
  autoUpdateAnnotation,
  danglingCondition,
  isSpecKept,
  mandatoryOf,
  systemFlowSchemas,
  systemPriorityLevels,
} from '@orch/api';
import { formatTime, semanticallyEqual } from '@orch/apimachinery';
import type { Logger } from '@orch/component';
import type { Entry } from '@orch/store';
import type {
  FlowSchema,
  PriorityLevelConfiguration,
} from '@orch/types/flowcontrol.apiserver/v1beta1';
import { upkeepTimeoutMs } from '../limits.js';
import { objectOf } from '../registry/entry-view.js';
import type { RegistryParts, WriteContext } from '../registry/registry-parts.js';
import {
  changeObject,
  ensureObject,
  servedKind,
  storedEntries,
  systemContext,
} from './ensure-object.js';
import { Upkeep } from './upkeep.js';

const groupHead = 'flowcontrol.apiserver';
const levels = 'prioritylevelconfigurations';
const schemas = 'flowschemas';

export function flowControlUpkeep(parts: RegistryParts, logger: Logger): Upkeep {
  const prefixes = [levels, schemas].map(
    (plural) => servedKind(parts, plural, groupHead).resource.keyPrefix,
  );
  const round = async () => {
    await keepFlowControl(parts);
    return undefined;
  };
  return new Upkeep(parts, { name: 'flow control', prefixes, round }, logger);
}

async function keepFlowControl(parts: RegistryParts): Promise<void> {
  const context = systemContext(parts, upkeepTimeoutMs);
  await keepAll(parts, context, levels, systemPriorityLevels());
  await keepAll(parts, context, schemas, systemFlowSchemas());
  await tellOfLevels(parts, context);
}

async function keepAll<T extends FlowSchema | PriorityLevelConfiguration>(
  parts: RegistryParts,
  context: WriteContext,
  plural: string,
  wanted: readonly T[],
): Promise<void> {
  const { resource } = servedKind(parts, plural, groupHead);
  const stored = new Map(
    (await storedEntries(parts, resource.keyPrefix, context)).map((entry) => [entry.key, entry]),
  );
  const annotation = autoUpdateAnnotation();
  const keep = async (one: T) => {
    const name = one.metadata?.name ?? '';
    const entry = stored.get(resource.key('', name));
    if (!entry) {
      await ensureObject(parts, context, plural, '', structuredClone(one), groupHead);
      return;
    }
    const object = objectOf(entry) as T;
    const isKept = isSpecKept(object, mandatoryOf(wanted, name) !== undefined);
    const isMarked = object.metadata?.annotations?.[annotation] === String(isKept);
    if (isMarked && (!isKept || semanticallyEqual(object.spec, one.spec))) return;
    await changeObject(parts, context, { plural, groupHead, name }, (fresh: T) => {
      fresh.metadata!.annotations = {
        ...fresh.metadata?.annotations,
        [annotation]: String(isKept),
      };
      if (isKept) fresh.spec = structuredClone(one.spec);
    });
  };
  // All at once: the store commits them together.
  await Promise.all(wanted.map(keep));
}

async function tellOfLevels(parts: RegistryParts, context: WriteContext): Promise<void> {
  const { resource } = servedKind(parts, levels, groupHead);
  const known = new Set(
    (await storedEntries(parts, resource.keyPrefix, context)).map(({ key }) => key),
  );
  const { keyPrefix } = servedKind(parts, schemas, groupHead).resource;
  const now = formatTime(parts.clock.nowMs());
  const tell = async (entry: Entry) => {
    const schema = objectOf(entry) as FlowSchema;
    const level = schema.spec?.priorityLevelConfiguration.name ?? '';
    const condition = danglingCondition(schema, known.has(resource.key('', level)), now);
    if (!condition) return;
    const target = { plural: schemas, groupHead, name: schema.metadata?.name ?? '' };
    const change = (fresh: FlowSchema) => {
      const others = (fresh.status?.conditions ?? []).filter(({ type }) => type !== condition.type);
      fresh.status = { ...fresh.status, conditions: [...others, condition] };
    };
    await changeObject(parts, context, target, change, 'status');
  };
  await Promise.all((await storedEntries(parts, keyPrefix, context)).map(tell));
}
