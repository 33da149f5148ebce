/**
 * The flow control objects of every cluster: missing ones are created and managed specs are
 * restored. A condition on every flow schema reports whether its priority level exists.
 */
import {
  autoUpdateAnnotation,
  danglingCondition,
  isSpecManaged,
  mandatoryObject,
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
import { objectOf } from '../objects/entry-view.js';
import { Reconciler } from '../reconciling/reconciler.js';
import { type KindName, SystemObjectsWriter } from '../reconciling/system-objects-writer.js';
import type { Registry } from '../store/registry.js';

const groupHead = 'flowcontrol.apiserver';
const levels: KindName = { plural: 'prioritylevelconfigurations', groupHead };
const schemas: KindName = { plural: 'flowschemas', groupHead };

export function flowControlReconciler(registry: Registry, logger: Logger): Reconciler {
  const prefixes = [levels, schemas].map(
    ({ plural }) => registry.storeOf(plural, groupHead).served.resource.keyPrefix,
  );
  const round = async () => {
    const writer = new SystemObjectsWriter(registry);
    await reconcileObjects(writer, levels, systemPriorityLevels());
    await reconcileObjects(writer, schemas, systemFlowSchemas());
    await reconcileConditions(writer);
    return undefined;
  };
  const { rawStore: store, clock } = registry;
  return new Reconciler({ store, clock, logger }, { name: 'flow control', prefixes, round });
}

async function reconcileObjects<T extends FlowSchema | PriorityLevelConfiguration>(
  writer: SystemObjectsWriter,
  kind: KindName,
  wanted: readonly T[],
): Promise<void> {
  const { resource } = writer.store(kind).served;
  const stored = await writer.entries(kind);
  const annotation = autoUpdateAnnotation();
  const reconcile = async (object: T) => {
    const name = object.metadata?.name ?? '';
    const entry = stored.get(resource.key('', name));
    if (!entry) {
      await writer.ensure(kind, structuredClone(object));
      return;
    }
    const current = objectOf<T>(entry);
    const isManaged = isSpecManaged(current, mandatoryObject(wanted, name) !== undefined);
    const isMarked = current.metadata?.annotations?.[annotation] === String(isManaged);
    if (isMarked && (!isManaged || semanticallyEqual(current.spec, object.spec))) return;
    await writer.change(kind, { namespace: '', name }, (fresh: T) => {
      fresh.metadata!.annotations = {
        ...fresh.metadata?.annotations,
        [annotation]: String(isManaged),
      };
      if (isManaged) fresh.spec = structuredClone(object.spec);
    });
  };
  // Concurrently: the store commits them together.
  await Promise.all(wanted.map(reconcile));
}

async function reconcileConditions(writer: SystemObjectsWriter): Promise<void> {
  const { resource } = writer.store(levels).served;
  const levelKeys = await writer.entries(levels);
  const now = formatTime(writer.registry.clock.nowMs());
  const reconcile = async (entry: Entry) => {
    const schema = objectOf<FlowSchema>(entry);
    const level = schema.spec?.priorityLevelConfiguration.name ?? '';
    const condition = danglingCondition(schema, levelKeys.has(resource.key('', level)), now);
    if (!condition) return;
    const key = { namespace: '', name: schema.metadata?.name ?? '' };
    const change = (fresh: FlowSchema) => {
      const others = (fresh.status?.conditions ?? []).filter(({ type }) => type !== condition.type);
      fresh.status = { ...fresh.status, conditions: [...others, condition] };
    };
    await writer.change(schemas, key, change, 'status');
  };
  await Promise.all([...(await writer.entries(schemas)).values()].map(reconcile));
}
