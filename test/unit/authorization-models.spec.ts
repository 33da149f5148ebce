/**
 * A short run of the comparisons of authorizers with their models, with the same inputs each time,
 * and planted bugs that the comparisons must find. A failure prints the seed and the input.
 */
import { NodeGraph, RbacPolicy, type User } from '@orch/security';
import type { PersistentVolume, Pod } from '@orch/types/core/v1';
import type { ClusterRole, RoleBinding } from '@orch/types/rbac.authorization/v1';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Target } from '../fuzz/target.js';
import { authorizationTargets, rbacDecisions } from '../fuzz/targets/authorization.js';
import { nodeDecisions, nodeGraphTargets } from '../fuzz/targets/node-graph.js';

const runCount = 100;
const seed = 1;

class PolicyWithoutDeletedBindings extends RbacPolicy {
  override deleteBinding(): void {}
}

class PolicyOfAllNamespaces extends RbacPolicy {
  override visit(user: User, _namespace: string, visit: Parameters<RbacPolicy['visit']>[2]): void {
    for (const namespace of ['a', 'b']) super.visit(user, namespace, visit);
  }
}

class PolicyWithoutNames extends RbacPolicy {
  override setRole(namespace: string, name: string, { rules = [] }: ClusterRole): void {
    super.setRole(namespace, name, {
      rules: rules.map(({ resourceNames: _, ...rule }) => rule),
    });
  }
}

class PolicyOfFirstBinding extends RbacPolicy {
  private readonly names = new Set<string>();

  /** Keeps the role of a binding that is replaced. */
  override setBinding(namespace: string, name: string, binding: RoleBinding): void {
    const key = `${namespace}/${name}`;
    if (!this.names.has(key)) super.setBinding(namespace, name, binding);
    this.names.add(key);
  }
}

class PolicyOfOneGeneration extends RbacPolicy {
  override setRole(namespace: string, name: string, role: ClusterRole): void {
    const { generation } = this;
    super.setRole(namespace, name, role);
    this.generation = generation;
  }
}

class GraphWithoutDeletion extends NodeGraph {
  override deleteSource(): void {}
}

class GraphOfMirrorPods extends NodeGraph {
  override setPod(key: string, pod: Pod): void {
    super.setPod(key, pod, false);
  }
}

class GraphOfLastingVolumes extends NodeGraph {
  override deleteVolume(): void {}
}

class GraphOfAnySecretNamespace extends NodeGraph {
  /** Ignores the namespace of the claim. */
  override setVolume(name: string, volume: PersistentVolume): void {
    const { claimRef, ...spec } = volume.spec ?? {};
    super.setVolume(name, {
      ...volume,
      spec: { ...spec, ...(claimRef && { claimRef: { ...claimRef, namespace: 'a' } }) },
    });
  }
}

async function firstFailure({ property }: Target): Promise<boolean> {
  return (await fc.check(property, { numRuns: runCount, seed, endOnFailure: true })).failed;
}

describe('authorizers and their models', () => {
  it.each([...authorizationTargets, ...nodeGraphTargets])(
    'decide the same: $name',
    async ({ property }) => {
      await fc.assert(property, { numRuns: runCount, seed });
    },
  );

  it.each([
    PolicyWithoutDeletedBindings,
    PolicyOfAllNamespaces,
    PolicyWithoutNames,
    PolicyOfFirstBinding,
    PolicyOfOneGeneration,
  ])('find the planted bug of %o', async (Policy) => {
    expect(await firstFailure(rbacDecisions(() => new Policy()))).toBe(true);
  });

  it.each([
    GraphWithoutDeletion,
    GraphOfMirrorPods,
    GraphOfLastingVolumes,
    GraphOfAnySecretNamespace,
  ])('find the planted bug of %o', async (Graph) => {
    expect(await firstFailure(nodeDecisions(() => new Graph()))).toBe(true);
  });
});
