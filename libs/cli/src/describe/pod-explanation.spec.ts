import type { PodReport } from '@orch/client';
import { expect, it } from 'vitest';
import { explanationText } from './pod-explanation.js';

const base = { pod: 'default/web', uid: 'u', schedulerName: 'default-scheduler', notes: [] };

it('prints what would have to change for a pending pod', () => {
  const refusals = [{ plugin: 'NodeResourcesFit', reasons: ['Insufficient cpu'] }];
  const nodes = ['a', 'b', 'c'].map((name) => ({
    name,
    refusals,
    changes: ['needs 200m more cpu'],
  }));
  const explanation: PodReport = {
    ...base,
    state: 'pending',
    ...{ queue: 'unschedulable after 2 attempts', nodeCount: 3, nodes },
    changes: ['3 nodes need 200m more cpu'],
  };
  expect(explanationText(explanation, 2)).toBe(
    `Pod:         default/web
Scheduler:   default-scheduler
State:       pending, unschedulable after 2 attempts
Feasible:    0 of 3 examined nodes, 3 exist
What would have to change:
  3 nodes need 200m more cpu

NODE   SCORE     DETAILS
a      refused   NodeResourcesFit: Insufficient cpu (needs 200m more cpu)
b      refused   NodeResourcesFit: Insufficient cpu (needs 200m more cpu)
... and 1 more nodes; --all-nodes lists them
`,
  );
});

it('prints the scores of a decision with the weights of the plugins', () => {
  const scores = { ImageLocality: 10, PodTopologySpread: 50 };
  const explanation: PodReport = {
    ...base,
    state: 'bound',
    ...{ node: 'a', evaluatedAt: '2026-11-23T22:00:00Z', nodeCount: 9 },
    weights: { ImageLocality: 1, PodTopologySpread: 2 },
    nodes: [{ name: 'a', total: 110, scores }],
    notes: ['the other nodes were not examined'],
  };
  expect(explanationText(explanation, 10)).toBe(
    `Pod:         default/web
Scheduler:   default-scheduler
State:       bound
Node:        a
Evaluated:   2026-11-23T22:00:00Z
Feasible:    1 of 1 examined nodes, 9 exist
Note:        the other nodes were not examined

NODE   SCORE   DETAILS
a      110     ImageLocality 10, PodTopologySpread 50 x 2
`,
  );
});
