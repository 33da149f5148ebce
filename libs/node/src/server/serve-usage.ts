/** The usage of the node and its pods: the summary, and the metrics beside those of the agent. */
import type { ServerResponse } from 'node:http';
import { resolve } from 'node:path';
import type { NodeAgentOptions } from '../node-agent-options.js';
import type { Prober } from '../probes/prober.js';
import type { MachineInfo } from '../registration/machine-info.js';
import { fileSystemOf, processLimit } from '../stats/node-readings.js';
import type { StatsSampler } from '../stats/stats-sampler.js';
import { cadvisorFamilies, machineFamilies } from './cadvisor-metrics.js';
import { exposition, expositionType } from './exposition.js';
import { probeFamilies } from './probe-metrics.js';
import { resourceFamilies } from './resource-metrics.js';
import { statsSummary } from './stats-summary.js';

export interface UsageDependencies {
  readonly options: Pick<NodeAgentOptions, 'rootDirectory'>;
  readonly nodeName: string;
  readonly machine: MachineInfo;
  readonly stats: Pick<StatsSampler, 'snapshot'>;
  readonly prober: Pick<Prober, 'counts'>;
}

/** Sends the response for `path`, which has no leading slash; undefined for any other path. */
export function serveUsage(
  dependencies: UsageDependencies,
  path: string,
  parameters: URLSearchParams,
  response: ServerResponse,
): Promise<void> | undefined {
  const { snapshot } = dependencies.stats;
  switch (path) {
    case 'stats/summary':
      return serveSummary(dependencies, parameters, response);
    case 'metrics/resource':
      return send(response, expositionType, exposition(resourceFamilies(snapshot), snapshot?.atMs));
    case 'metrics/cadvisor':
      return send(
        response,
        expositionType,
        exposition(machineFamilies(dependencies.machine)) +
          (snapshot ? exposition(cadvisorFamilies(snapshot), snapshot.atMs) : ''),
      );
    case 'metrics/probes':
      return send(
        response,
        expositionType,
        exposition(probeFamilies(dependencies.prober.counts.list())),
      );
    default:
      return undefined;
  }
}

async function serveSummary(
  { stats, options, nodeName }: UsageDependencies,
  parameters: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  if (!stats.snapshot) {
    response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('the usage of the node has not been measured yet\n');
    return;
  }
  const onlyCpuAndMemory = parameters.get('only_cpu_and_memory') === 'true';
  const resources = onlyCpuAndMemory
    ? undefined
    : { fileSystem: fileSystemOf(resolve(options.rootDirectory)), processLimit: processLimit() };
  const body = JSON.stringify(statsSummary(nodeName, stats.snapshot, resources));
  return send(response, 'application/json', body);
}

async function send(response: ServerResponse, contentType: string, body: string): Promise<void> {
  response.writeHead(200, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
