import { resources } from '@orch/client';
import { dialect } from '@orch/component';
import { afterEach, describe, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import { rootCaPublisher } from './root-ca-publisher.js';

describe('rootCaPublisher', () => {
  const authorityPem = '-----BEGIN CERTIFICATE-----';
  const name = dialect().systemName('root-ca.crt');
  let harness: ControllerHarness;
  const data = () => harness.server.get(resources.configMaps, `default/${name}`)?.data;
  afterEach(() => harness.stop());

  it('publishes the authority and restores it after changes and deletions', async () => {
    harness = new ControllerHarness([rootCaPublisher], { authorityPem });
    await harness.start();
    expect(data()).toEqual({ 'ca.crt': authorityPem });
    const configMaps = harness.client.resource(resources.configMaps, 'default');
    await configMaps.patch(name, { data: { 'ca.crt': 'forged' } }, { type: 'merge' });
    await harness.settle();
    expect(data()).toEqual({ 'ca.crt': authorityPem });
    await configMaps.delete(name);
    await harness.settle();
    expect(data()).toEqual({ 'ca.crt': authorityPem });
  });

  it('publishes nothing if clients do not verify the server', async () => {
    harness = new ControllerHarness([rootCaPublisher]);
    await harness.start();
    expect(data()).toBeUndefined();
  });
});
