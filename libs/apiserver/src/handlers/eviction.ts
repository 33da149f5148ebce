/**
 * The `eviction` subresource of pods: a deletion that asks the disruption budgets first. A disruption is
 * taken out of the budget before the pod is deleted, so that budgets are kept however many ask at once.
 */
import {
  type ApiObject,
  covers,
  isBeyondBudgets,
  isEnding,
  isSpare,
  stillProcessed,
  takeDisruption,
} from '@orch/api';
import { conflict, formatTime, isStatus, StatusError, setOfFields } from '@orch/apimachinery';
import type { Pod } from '@orch/types/core/v1';
import type { PodDisruptionBudget } from '@orch/types/policy/v1';
import { updateAttemptsMax } from '../limits.js';
import { deleteObject } from '../registry/delete.js';
import { freshObject, objectOf } from '../registry/entry-view.js';
import { timeLeftMs } from '../registry/registry-parts.js';
import type { ServedResource } from '../registry/resource.js';
import { type UpdateStrategy, updateObject } from '../registry/update.js';
import {
  type DeleteOptions,
  type DeleteOptionsBody,
  parseDeleteOptions,
  parseWriteOptions,
} from '../request/write-options.js';
import { type Call, plainRepresentation, targetOf, writeContext } from './call.js';
import { readPod } from './node-agents.js';
import { checkName, readObject, sendCreated } from './pod-actions.js';

interface Eviction extends ApiObject {
  deleteOptions?: DeleteOptionsBody;
}

export async function handleEviction(call: Call): Promise<void> {
  plainRepresentation(call);
  const eviction = (await readObject(call, 'policy/v1beta1.Eviction')) as Eviction;
  parseWriteOptions(call.query, 'CreateOptions');
  checkName(call, eviction, 'Eviction');
  const options = parseDeleteOptions(call.query, eviction.deleteOptions ?? {});
  const pod = await readPod(call);
  if (isBeyondBudgets(pod)) await evictBeyond(call, pod, options);
  else await evictWithin(call, pod, options);
  sendCreated(call);
}

/** A pod that has begun to work meanwhile is not deleted by what was said of it before. */
async function evictBeyond(call: Call, seen: Pod, options: DeleteOptions): Promise<void> {
  let pod = seen;
  for (let attempt = 1; attempt <= updateAttemptsMax; attempt += 1) {
    if (!isBeyondBudgets(pod)) return evictWithin(call, pod, options);
    try {
      return await remove(call, isEnding(pod) ? options : onlyAsSeen(options, pod));
    } catch (error) {
      if (!isStatus(error, 'Conflict')) throw error;
      const now = await readPod(call);
      if (now.metadata?.resourceVersion === pod.metadata?.resourceVersion) throw error;
      pod = now;
    }
  }
  throw conflict(call.served.groupResource, call.info.name);
}

async function evictWithin(call: Call, pod: Pod, options: DeleteOptions): Promise<void> {
  const served = call.parts.table.inStoredVersion('policy', 'poddisruptionbudgets');
  const budgets = served ? await budgetsOf(call, served, pod) : [];
  const [budget] = budgets;
  if (!served || !budget) return remove(call, options);
  if (budgets.length > 1) {
    throw new StatusError({
      code: 500,
      message:
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  }
  if (isSpare(budget, pod)) return removeSpare(call, pod, budget, options);
  await take(call, served, budget, options.dryRun);
  return remove(call, options);
}

async function budgetsOf(
  { parts, info, deadlineMs }: Call,
  served: ServedResource,
  pod: Pod,
): Promise<PodDisruptionBudget[]> {
  const { entries } = await parts.store.list(served.resource.prefix(info.namespace), {
    consistency: { kind: 'quorum' },
    timeoutMs: timeLeftMs(parts, deadlineMs),
  });
  return entries
    .map((entry) => objectOf(entry) as PodDisruptionBudget)
    .filter((budget) => covers(budget, served.version, pod));
}

/** Only the counts of the status change, and they are the server's. */
const countStrategy: UpdateStrategy = {
  subresource: 'status',
  resetFields: setOfFields(),
  prepare: () => undefined,
  validate: () => [],
};

async function take(
  call: Call,
  served: ServedResource,
  { metadata }: PodDisruptionBudget,
  dryRun: boolean,
): Promise<void> {
  const { parts, info } = call;
  const now = formatTime(parts.clock.nowMs());
  await updateObject(
    parts,
    { served, namespace: info.namespace, name: metadata?.name ?? '' },
    {
      strategy: countStrategy,
      uid: '',
      produce(_existing, entry) {
        const budget = freshObject(entry) as PodDisruptionBudget;
        takeDisruption(budget, info.name, now);
        return budget;
      },
    },
    writeContext(call, dryRun),
  );
}

/** One that becomes healthy meanwhile has to be asked for again. */
async function removeSpare(
  call: Call,
  pod: Pod,
  budget: PodDisruptionBudget,
  options: DeleteOptions,
): Promise<void> {
  try {
    await remove(call, onlyAsSeen(options, pod));
  } catch (error) {
    const ours = options.preconditions.resourceVersion === undefined;
    throw ours && isStatus(error, 'Conflict') ? stillProcessed(budget) : error;
  }
}

/** Unless the client says itself which version of the pod it means. */
function onlyAsSeen(options: DeleteOptions, { metadata }: Pod): DeleteOptions {
  const { preconditions } = options;
  const resourceVersion = preconditions.resourceVersion ?? metadata?.resourceVersion;
  return { ...options, preconditions: { ...preconditions, resourceVersion } };
}

async function remove(call: Call, options: DeleteOptions): Promise<void> {
  await deleteObject(call.parts, targetOf(call), options, writeContext(call, options.dryRun));
}
