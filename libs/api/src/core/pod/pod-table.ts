/** Table columns of pods: the state in one word, computed from the phase and the containers. */
import { isConditionTrue } from '@orch/apimachinery';
import type { ContainerState, Pod } from '@orch/types/core/v1';
import type { TableColumn, TableRowCondition } from '../../definition.js';
import { ageColumn, nameColumn, none, textOrNone } from '../../shared/columns.js';

interface Summary {
  readonly reason: string;
  readonly readyCount: number;
  readonly restartCount: number;
}

/** Set by the node controller when a node is lost; the pod may still run. */
const nodeLost = 'NodeLost';

function summary(pod: Pod): Summary {
  const { status } = pod;
  const phaseReason = status?.reason || status?.phase || '';
  const init = initSummary(pod);
  if (init) return { ...finish(pod, init.reason), readyCount: 0, restartCount: init.restartCount };
  let reason = phaseReason;
  let readyCount = 0;
  let restartCount = 0;
  let isRunning = false;
  for (const container of [...(status?.containerStatuses ?? [])].reverse()) {
    restartCount += container.restartCount ?? 0;
    const { state } = container;
    if (state?.waiting?.reason) reason = state.waiting.reason;
    else if (state?.terminated) reason = terminatedText(state.terminated);
    else if (container.ready && state?.running) {
      isRunning = true;
      readyCount += 1;
    }
  }
  // One container has terminated and another runs: the pod is running.
  if (reason === 'Completed' && isRunning)
    reason = isConditionTrue(pod.status?.conditions, 'Ready') ? 'Running' : 'NotReady';
  return { ...finish(pod, reason), readyCount, restartCount };
}

function terminatedText(state: NonNullable<ContainerState['terminated']>): string {
  if (state.reason) return state.reason;
  return state.signal ? `Signal:${state.signal}` : `ExitCode:${state.exitCode}`;
}

/** Undefined once all init containers have completed. */
function initSummary(pod: Pod): { reason: string; restartCount: number } | undefined {
  const statuses = pod.status?.initContainerStatuses ?? [];
  let restartCount = 0;
  for (const [index, container] of statuses.entries()) {
    restartCount += container.restartCount ?? 0;
    const { terminated, waiting } = container.state ?? {};
    if (terminated && terminated.exitCode === 0) continue;
    if (terminated) return { reason: `Init:${terminatedText(terminated)}`, restartCount };
    if (waiting?.reason && waiting.reason !== 'PodInitializing') {
      return { reason: `Init:${waiting.reason}`, restartCount };
    }
    const total = pod.spec?.initContainers?.length ?? 0;
    return { reason: `Init:${index}/${total}`, restartCount };
  }
  return undefined;
}

function finish(pod: Pod, reason: string): { reason: string } {
  if (!pod.metadata?.deletionTimestamp) return { reason };
  return { reason: pod.status?.reason === nodeLost ? 'Unknown' : 'Terminating' };
}

function gatesCell(pod: Pod): string {
  const gates = pod.spec?.readinessGates ?? [];
  if (gates.length === 0) return none;
  const met = gates.filter(({ conditionType }) =>
    (pod.status?.conditions ?? []).some(
      ({ type, status }) => type === conditionType && status === 'True',
    ),
  );
  return `${met.length}/${gates.length}`;
}

export const podColumns: readonly TableColumn<Pod>[] = [
  nameColumn(),
  {
    name: 'Ready',
    type: 'string',
    description: 'Ready and total containers.',
    cell: (pod) => `${summary(pod).readyCount}/${pod.spec?.containers?.length ?? 0}`,
  },
  {
    name: 'Status',
    type: 'string',
    description: 'Status of the pod in one word.',
    cell: (pod) => summary(pod).reason,
  },
  {
    name: 'Restarts',
    type: 'integer',
    description: 'Number of container restarts.',
    cell: (pod) => summary(pod).restartCount,
  },
  ageColumn(),
  {
    name: 'IP',
    type: 'string',
    priority: 1,
    description: 'IP address of the pod.',
    cell: (pod) => textOrNone(pod.status?.podIPs?.[0]?.ip),
  },
  {
    name: 'Node',
    type: 'string',
    priority: 1,
    description: 'Node of the pod.',
    cell: (pod) => textOrNone(pod.spec?.nodeName),
  },
  {
    name: 'Nominated Node',
    type: 'string',
    priority: 1,
    description: 'Node on which other pods are being preempted for this one.',
    cell: (pod) => textOrNone(pod.status?.nominatedNodeName),
  },
  {
    name: 'Readiness Gates',
    type: 'string',
    priority: 1,
    description: 'Met and total readiness gates.',
    cell: gatesCell,
  },
];

/** Marks terminated pods as completed. */
export function podRowConditions(pod: Pod): TableRowCondition[] {
  const phase = pod.status?.phase;
  if (phase === 'Succeeded') {
    return [
      {
        type: 'Completed',
        status: 'True',
        reason: phase,
        message: 'The pod has completed successfully.',
      },
    ];
  }
  return phase === 'Failed'
    ? [{ type: 'Completed', status: 'True', reason: phase, message: 'The pod failed.' }]
    : [];
}
