import { resources } from '@orch/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import type { Controller, ControllerContext } from './controller.js';
import { ResourceMonitor } from './resource-monitor.js';

let harness: ControllerHarness;
let context: ControllerContext;
let monitor: ResourceMonitor;
let seen: string[];

const discovered = {
  ...{ group: 'core', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true },
  ...{
    preferred: true,
    verbs: ['list', 'watch', 'delete'],
    singularName: '',
    shortNames: [],
    categories: [],
  },
};

beforeEach(async () => {
  seen = [];
  harness = new ControllerHarness([
    (given): Controller => {
      context = given;
      return { queues: [], run: async () => {} };
    },
  ]);
  harness.server.seed(resources.pods, { metadata: { name: 'a', namespace: 'default' } });
  await harness.start();
  monitor = new ResourceMonitor(context, discovered, {
    observe: ({ name }) => seen.push(`+${name}`),
    remove: () => seen.push('-'),
    synced: () => seen.push('synced'),
  });
});

afterEach(async () => {
  monitor.stop();
  await harness.stop();
});

const listCount = () => harness.server.requests.filter(({ method }) => method === 'GET').length;

it('reports objects and deletions from the informer of another controller', async () => {
  context.informers.informer(resources.pods);
  await harness.advance(1_000);
  const before = listCount();
  monitor.start();
  expect(monitor.hasSynced()).toBe(true);
  await harness.client.resource(resources.pods, 'default').delete('a');
  await harness.settle();
  expect(seen).toEqual(['+a', 'synced', '-']);
  expect(listCount()).toBe(before);
  monitor.stop();
  harness.server.seed(resources.pods, { metadata: { name: 'b', namespace: 'default' } });
  await harness.settle();
  expect(seen).toHaveLength(3);
});

it('watches the metadata of a resource that no controller watches', async () => {
  monitor.start();
  await harness.advance(1_000);
  await harness.client.resource(resources.pods, 'default').delete('a');
  await harness.settle();
  expect(seen).toEqual(['+a', 'synced', '-']);
});
