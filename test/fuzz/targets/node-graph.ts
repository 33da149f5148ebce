/** Decisions about nodes, compared with a model that recomputes every one from all objects. */
import assert from 'node:assert/strict';
import { dialect } from '@orch/component';
import { NodeGraph, type RequestAttributes } from '@orch/security';
import fc from 'fast-check';
import { nodeAuthorizer } from '../../../libs/security/src/authorization/node/node-authorizer.js';
import {
  type GraphChange,
  graphChanges,
  namespaces,
  nodeNames,
  objectNames,
} from '../inputs/node-objects.js';
import { NodeModel } from '../models/node-model.js';
import { asyncTarget, type Target } from '../target.js';

const kinds = [
  { resource: 'secrets', namespaced: true },
  { resource: 'configmaps', namespaced: true },
  { resource: 'persistentvolumeclaims', namespaced: true },
  { resource: 'serviceaccounts', namespaced: true, subresource: 'token', verb: 'create' },
  { resource: 'persistentvolumes', namespaced: false },
  { resource: 'volumeattachments', namespaced: false, groupHead: 'storage' },
] as const;

interface Question {
  readonly node: string;
  readonly kind: (typeof kinds)[number];
  readonly namespace: string;
  readonly name: string;
  readonly isInGroup: boolean;
}

const question: fc.Arbitrary<Question> = fc.record({
  node: fc.constantFrom(...nodeNames),
  kind: fc.constantFrom(...kinds),
  namespace: fc.constantFrom(...namespaces),
  name: fc.constantFrom(...objectNames),
  isInGroup: fc.nat(9).map((number) => number > 0),
});

const round = fc.record({
  changes: fc.array(graphChanges, { minLength: 1, maxLength: 8 }),
  questions: fc.array(question, { minLength: 5, maxLength: 5 }),
});

function applyTo(graph: NodeGraph, change: GraphChange): void {
  const { kind } = change;
  if (kind === 'set pod') graph.setPod(change.key, change.pod, change.isMirror);
  else if (kind === 'set node') graph.setNode(change.key, change.node);
  else if (kind === 'set attachment') graph.setAttachment(change.key, change.attachment);
  else if (kind === 'delete source') graph.deleteSource(change.key);
  else if (kind === 'set volume') graph.setVolume(change.name, change.volume);
  else graph.deleteVolume(change.name);
}

function requestOf({ kind, namespace, name }: Question): RequestAttributes {
  return {
    isResource: true,
    verb: 'verb' in kind ? kind.verb : 'get',
    path: '',
    group: 'groupHead' in kind ? dialect().group(kind.groupHead) : '',
    version: 'v1',
    namespace: kind.namespaced ? namespace : '',
    resource: kind.resource,
    subresource: 'subresource' in kind ? kind.subresource : '',
    name,
  };
}

/** The property for a graph, which a test replaces with one that has a fault. */
export function nodeDecisions(createGraph: () => NodeGraph = () => new NodeGraph()): Target {
  return asyncTarget(
    'node-decisions',
    fc.array(round, { minLength: 4, maxLength: 4 }),
    async (rounds) => {
      const graph = createGraph();
      const model = new NodeModel();
      const authorize = nodeAuthorizer({ graph: () => graph, rules: [] });
      for (const { changes, questions } of rounds) {
        for (const change of changes) {
          applyTo(graph, change);
          model.apply(change);
        }
        for (const asked of questions) {
          const { node, kind, isInGroup, name } = asked;
          const groups = isInGroup ? ['system:nodes'] : ['system:authenticated'];
          const user = { name: `system:node:${node}`, uid: '', groups, extra: {} };
          const info = requestOf(asked);
          const reaches = model.reaches(node, kind.resource, info.namespace, name);
          const { verdict } = await authorize({ user, info });
          assert.equal(verdict, reaches && isInGroup ? 'allow' : 'no opinion');
        }
      }
    },
  );
}

export const nodeGraphTargets: readonly Target[] = [nodeDecisions()];
