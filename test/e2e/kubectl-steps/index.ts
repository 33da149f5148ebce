/** The steps of each kubectl. A step that depends on another follows it in the same topic. */
import type { Topic } from '../support/kubectl-session.js';
import { apply } from './apply.js';
import { customResources } from './custom-resources.js';
import { discovery } from './discovery.js';
import { limits } from './limits.js';
import { nodes } from './nodes.js';
import { objects } from './objects.js';
import { pods } from './pods.js';
import { reading } from './reading.js';
import { workloads } from './workloads.js';

export const topics: readonly Topic[] = [
  discovery,
  objects,
  apply,
  customResources,
  reading,
  workloads,
  pods,
  nodes,
  limits,
];
