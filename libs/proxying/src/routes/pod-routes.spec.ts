import { createLogger } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { PodRoutes } from './pod-routes.js';

const logger = createLogger({ component: 'test', format: 'text', level: 'fatal' });
const annotation = 'pod-routes.node.orch.io/blue';
const node = (announced: string | undefined, address = '192.0.2.2'): Node => ({
  metadata: { name: 'n', ...(announced && { annotations: { [annotation]: announced } }) },
  spec: { podCIDRs: ['10.0.1.0/24'] },
  status: { addresses: [{ type: 'InternalIP', address }] },
});
const routes = (announcedRoutesOnly: boolean) =>
  new PodRoutes(
    'owner',
    { podRouteRange: '10.0.0.0/8', announcedRoutesOnly, clusterName: 'blue' },
    logger,
  );

describe('PodRoutes', () => {
  it('follows announcements with --announced-routes-only, and only of ranges of the node', () => {
    const announced = routes(true);
    expect(announced.areChanged(node('10.0.1.0/24'), node(undefined))).toBe(true);
    expect(announced.areChanged(node('10.0.9.0/24'), node(undefined))).toBe(false);
    expect(announced.areChanged(node('10.0.1.0/24'), node('10.0.1.0/24,10.0.9.0/24'))).toBe(false);
  });

  it('follows ranges and addresses of nodes otherwise', () => {
    const all = routes(false);
    expect(all.areChanged(node('10.0.1.0/24'), node(undefined))).toBe(false);
    expect(all.areChanged(node(undefined, '192.0.2.3'), node(undefined))).toBe(true);
    expect(all.areChanged(node(undefined), undefined)).toBe(true);
  });
});
