/**
 * Stock kubectl of several releases against one cluster in the `kubernetes` dialect: every command,
 * in each release alike. `kubectl-steps` has the command lines and their expected output.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { topics } from './kubectl-steps/index.js';
import { Cluster } from './support/cluster.js';
import { kubectlReleases } from './support/kubectl.js';
import { KubectlSession, minorOf, type Step } from './support/kubectl-session.js';

// A node for each release, because some steps cordon it.
const cluster = new Cluster({
  dialect: 'kubernetes',
  replicas: 1,
  nodes: kubectlReleases.length,
});

beforeAll(() => cluster.up());
afterAll(() => cluster.destroy());

for (const [index, release] of kubectlReleases.entries()) {
  const minor = minorOf(release);
  const isKnown = ({ since = 0, until = Infinity }: Step) => since <= minor && minor <= until;

  for (const { name, steps } of topics) {
    describe.concurrent(`kubectl ${release.release}: ${name}`, () => {
      let session: KubectlSession;

      beforeAll(async () => {
        session = await KubectlSession.open(cluster, release, { name, node: `node-${index + 1}` });
      });

      for (const step of steps.filter(isKnown)) {
        it.sequential(step.does, async () => {
          const { code, stdout } = await session.type(step.run);
          for (const expected of [step.says ?? []].flat()) {
            if (typeof expected === 'string') expect(stdout).toContain(expected);
            else expect(stdout).toMatch(expected);
          }
          if (step.saysNot) expect(stdout).not.toMatch(step.saysNot);
          expect(code, stdout).toBe(step.exits ?? 0);
        });
      }
    });
  }
}
