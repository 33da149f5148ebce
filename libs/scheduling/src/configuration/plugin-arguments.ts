/** The arguments of plugins: fields of `pluginConfig[].args`, their defaults and limits. */
import type { NodeAffinity } from '@orch/types/core/v1';
import { volumeBindTimeoutMsDefault } from '../limits.js';
import type { PreemptionOptions } from '../plugins/preemption/default-preemption.js';
import { preemptionDefaults } from '../plugins/preemption/default-preemption.js';
import {
  type ShapePoint,
  shapeScoreMax,
  type WeightedResource,
} from '../plugins/resource-scores.js';
import { type DefaultConstraint, systemConstraints } from '../plugins/topology-spread.js';
import type { ConfigurationMap } from './configuration-map.js';

const percentMax = 100;

/** How long a pod may wait for its volumes; of `VolumeBinding`, applied by the shell. */
export function bindTimeoutMs(args: ConfigurationMap | undefined): number {
  const seconds = args?.integer('bindTimeoutSeconds', 0);
  return seconds === undefined ? volumeBindTimeoutMsDefault : seconds * 1_000;
}

/** Undefined without resources: the default of the plugin. */
export function weightedResources(args: ConfigurationMap): WeightedResource[] | undefined {
  if (!args.has('resources')) return undefined;
  return args.maps('resources').map((resource) => {
    const name = resource.text('name');
    if (!name) throw resource.fault('name', 'is required');
    // 0 is the same as absent.
    const weight = resource.integer('weight', 0, percentMax) || 1;
    resource.finish();
    return { name, weight };
  });
}

export function shapeOf(args: ConfigurationMap): ShapePoint[] {
  const points = args.maps('shape').map((point) => {
    const utilization = point.integer('utilization', 0, percentMax) ?? 0;
    const score = point.integer('score', 0, shapeScoreMax) ?? 0;
    point.finish();
    return { utilization, score };
  });
  if (points.length === 0) throw args.fault('shape', 'at least one point is required');
  points.slice(1).forEach((point, index) => {
    if (point.utilization > points[index]!.utilization) return;
    throw args.fault('shape', 'the values of utilization must increase');
  });
  return points;
}

export function preemptionOptions(args: ConfigurationMap): PreemptionOptions {
  const { minCandidateNodesPercentage, minCandidateNodesAbsolute } = preemptionDefaults;
  const options = {
    minCandidateNodesPercentage:
      args.integer('minCandidateNodesPercentage', 0, percentMax) ?? minCandidateNodesPercentage,
    minCandidateNodesAbsolute:
      args.integer('minCandidateNodesAbsolute', 0) ?? minCandidateNodesAbsolute,
  };
  if (options.minCandidateNodesPercentage + options.minCandidateNodesAbsolute === 0) {
    throw args.fault(
      'minCandidateNodesAbsolute',
      'must not be 0 together with minCandidateNodesPercentage',
    );
  }
  return options;
}

/** The system's constraints unless a list, which may be empty, replaces them. */
export function spreadConstraints(
  args: ConfigurationMap,
  isSystemDefault: boolean,
): readonly DefaultConstraint[] {
  const type = args.text('defaultingType') ?? (isSystemDefault ? 'System' : 'List');
  if (type !== 'System' && type !== 'List') {
    throw args.fault('defaultingType', `${type} is not System or List`);
  }
  const constraints = args.maps('defaultConstraints').map(defaultConstraint);
  if (type === 'List') return constraints;
  if (constraints.length > 0) {
    throw args.fault('defaultConstraints', 'must be empty unless defaultingType is List');
  }
  return systemConstraints();
}

function defaultConstraint(entry: ConfigurationMap): DefaultConstraint {
  const maxSkew = entry.integer('maxSkew', 1);
  const topologyKey = entry.text('topologyKey');
  const whenUnsatisfiable = entry.text('whenUnsatisfiable');
  if (entry.has('labelSelector')) {
    throw entry.fault('labelSelector', 'must be absent: services and controllers select the pods');
  }
  entry.finish();
  if (maxSkew === undefined) throw entry.fault('maxSkew', 'is required');
  if (!topologyKey) throw entry.fault('topologyKey', 'is required');
  if (whenUnsatisfiable !== 'DoNotSchedule' && whenUnsatisfiable !== 'ScheduleAnyway') {
    throw entry.fault('whenUnsatisfiable', 'is not DoNotSchedule or ScheduleAnyway');
  }
  return { maxSkew, topologyKey, whenUnsatisfiable };
}

export function addedAffinity(args: ConfigurationMap): NodeAffinity | undefined {
  const affinity = args.map('addedAffinity');
  if (!affinity) return undefined;
  const required = affinity.map('requiredDuringSchedulingIgnoredDuringExecution');
  const terms = required?.maps('nodeSelectorTerms').map(selectorTerm);
  required?.finish();
  const preferred = affinity
    .maps('preferredDuringSchedulingIgnoredDuringExecution')
    .map((entry) => {
      const weight = entry.integer('weight', 1, percentMax);
      const preference = entry.map('preference');
      entry.finish();
      if (weight === undefined) throw entry.fault('weight', 'is required');
      return { weight, preference: preference ? selectorTerm(preference) : {} };
    });
  affinity.finish();
  return {
    ...(terms && {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms },
    }),
    preferredDuringSchedulingIgnoredDuringExecution: preferred,
  };
}

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'];

function selectorTerm(term: ConfigurationMap) {
  const requirements = (name: string) =>
    term.maps(name).map((entry) => {
      const key = entry.text('key') ?? '';
      const operator = entry.text('operator') ?? '';
      const values = entry.texts('values');
      entry.finish();
      if (!operators.includes(operator)) {
        throw entry.fault('operator', `${operator} is not one of ${operators.join(', ')}`);
      }
      return { key, operator, values };
    });
  const matchExpressions = requirements('matchExpressions');
  const matchFields = requirements('matchFields');
  term.finish();
  return { matchExpressions, matchFields };
}
