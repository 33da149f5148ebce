/**
 * The usage in the summary of a node agent. Reads those of upstream node agents as well. Pure: a
 * figure that is missing or malformed is left out, with the pod or node that it belongs to.
 */
import { isJsonObject, type Json, parseTime, Quantity } from '@orch/apimachinery';

/** `cpu` and `memory`. */
export type Usage = Readonly<Record<'cpu' | 'memory', string>>;

export interface MeasuredUsage {
  /** Wall time of the measurement. */
  readonly timestampMs: number;
  readonly usage: Usage;
}

export interface PodUsage {
  readonly uid: string;
  /** The earliest of its containers. */
  readonly timestampMs: number;
  readonly containers: readonly { readonly name: string; readonly usage: Usage }[];
}

export interface NodeUsage {
  /** Undefined before the agent knows a CPU rate. */
  readonly node: MeasuredUsage | undefined;
  /** By `namespace/name`. */
  readonly pods: ReadonlyMap<string, PodUsage>;
}

/** Returns the usage in the parsed body of `/stats/summary`. */
export function usageOfSummary(summary: Json): NodeUsage {
  const pods = new Map<string, PodUsage>();
  for (const entry of listOf(memberOf(summary, 'pods'))) {
    const reference = memberOf(entry, 'podRef');
    const usage = podUsage(entry, textOf(memberOf(reference, 'uid')));
    if (!usage) continue;
    const namespace = textOf(memberOf(reference, 'namespace'));
    pods.set(`${namespace}/${textOf(memberOf(reference, 'name'))}`, usage);
  }
  return { node: measured(memberOf(summary, 'node')), pods };
}

/** Undefined unless the usage of every container is known: a sum without one is wrong. */
function podUsage(entry: Json, uid: string): PodUsage | undefined {
  const containers: { name: string; usage: Usage }[] = [];
  let timestampMs = Number.POSITIVE_INFINITY;
  for (const container of listOf(memberOf(entry, 'containers'))) {
    const found = measured(container);
    if (!found) return undefined;
    containers.push({ name: textOf(memberOf(container, 'name')), usage: found.usage });
    timestampMs = Math.min(timestampMs, found.timestampMs);
  }
  return containers.length === 0 ? undefined : { uid, timestampMs, containers };
}

function measured(subject: Json | undefined): MeasuredUsage | undefined {
  const cpu = memberOf(subject, 'cpu');
  const nanoCores = amountOf(memberOf(cpu, 'usageNanoCores'));
  const bytes = amountOf(memberOf(memberOf(subject, 'memory'), 'workingSetBytes'));
  const timestampMs = parseTime(textOf(memberOf(cpu, 'time')));
  if (nanoCores === undefined || bytes === undefined || timestampMs === undefined) return undefined;
  return {
    timestampMs,
    usage: {
      cpu: Quantity.parse(`${nanoCores}n`).toString(),
      memory: Quantity.of(bytes, 'binary').toString(),
    },
  };
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function amountOf(value: Json | undefined): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}
