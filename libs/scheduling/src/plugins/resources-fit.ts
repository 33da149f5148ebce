/** Rejects nodes without enough free resources for the requests of the pod. */
import { localFilter, type NodeFilter, type Plugin, rejection } from '../framework/plugin.js';
import { nodeHasNot, type Remedy } from '../framework/remedy.js';
import type { NodeInfo } from '../model/node-info.js';
import type { PodInfo } from '../model/pod-info.js';

export interface ResourcesFitOptions {
  /** Named resources that are not checked. */
  readonly ignoredResources?: readonly string[];
  /** Prefixes, as `example.com`, of named resources that are not checked. */
  readonly ignoredResourceGroups?: readonly string[];
}

export function nodeResourcesFit(options: ResourcesFitOptions = {}): Plugin {
  const ignored = new Set(options.ignoredResources);
  const ignoredGroups = new Set(options.ignoredResourceGroups);
  const isIgnored = (name: string) =>
    ignored.has(name) || (name.includes('/') && ignoredGroups.has(name.split('/', 1)[0]!));
  const checkedOf = (pod: PodInfo) =>
    [...(pod.requests.others ?? [])].filter(([name]) => !isIgnored(name));
  return {
    name: 'NodeResourcesFit',
    retryOn: ['node added', 'node changed', 'pod removed'],
    // The requests of a pod are summed with its `PodInfo`.
    preFilter: () => undefined,
    ...localFilter((pod) => fitFilter(pod, checkedOf(pod))),
    remedies: ({ pod }, node) => missingResources(pod, checkedOf(pod), node),
  };
}

function missingResources(
  { requests, requestsNothing }: PodInfo,
  named: readonly (readonly [string, number])[],
  { allocatable, requested, pods, podCountMax }: NodeInfo,
): Remedy[] {
  const missing: [string, number][] = requestsNothing
    ? []
    : [
        ['cpu', requests.milliCpu - allocatable.milliCpu + requested.milliCpu],
        ['memory', requests.memoryBytes - allocatable.memoryBytes + requested.memoryBytes],
        [
          'ephemeral-storage',
          requests.ephemeralStorageBytes -
            allocatable.ephemeralStorageBytes +
            requested.ephemeralStorageBytes,
        ],
        ...named.map(([name, count]): [string, number] => [
          name,
          count - (allocatable.others?.get(name) ?? 0) + (requested.others?.get(name) ?? 0),
        ]),
      ];
  return [
    ...(pods.size + 1 > podCountMax ? [nodeHasNot('room for another pod')] : []),
    ...missing
      .filter(([, amount]) => amount > 0)
      .map(([resource, amount]) => ({ resource, missing: amount })),
  ];
}

function fitFilter(
  { requests, requestsNothing }: PodInfo,
  named: readonly (readonly [string, number])[],
): NodeFilter {
  return ({ allocatable, requested, pods, podCountMax }) => {
    let reasons: string[] | undefined;
    const lacks = (reason: string) => {
      reasons ??= [];
      reasons.push(reason);
    };
    if (pods.size + 1 > podCountMax) lacks('Too many pods');
    if (!requestsNothing) {
      if (requests.milliCpu > allocatable.milliCpu - requested.milliCpu) lacks('Insufficient cpu');
      if (requests.memoryBytes > allocatable.memoryBytes - requested.memoryBytes) {
        lacks('Insufficient memory');
      }
      const freeStorageBytes = allocatable.ephemeralStorageBytes - requested.ephemeralStorageBytes;
      if (requests.ephemeralStorageBytes > freeStorageBytes) {
        lacks('Insufficient ephemeral-storage');
      }
      for (const [name, count] of named) {
        const free = (allocatable.others?.get(name) ?? 0) - (requested.others?.get(name) ?? 0);
        if (count > free) lacks(`Insufficient ${name}`);
      }
    }
    return reasons && rejection(...reasons);
  };
}
