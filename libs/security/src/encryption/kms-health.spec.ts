import { expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { kmsHealthyMs, kmsUnhealthyMs } from '../limits.js';
import { KmsError } from './kms-error.js';
import { KmsHealth } from './kms-health.js';

class Service {
  callCount = 0;
  failure: KmsError | undefined;
  decrypted: Buffer | undefined;

  async encrypt(dataKey: Buffer): Promise<Buffer> {
    this.callCount += 1;
    if (this.failure) throw this.failure;
    return dataKey;
  }

  async decrypt(encryptedDataKey: Buffer): Promise<Buffer> {
    return this.decrypted ?? encryptedDataKey;
  }
}

it('KmsHealth calls the service again when the last result is too old', async () => {
  const clock = new TestClock();
  const service = new Service();
  const health = new KmsHealth(service, clock);
  await Promise.all([health.check(), health.check()]);
  expect(service.callCount).toBe(1);
  service.failure = new KmsError('down');
  await health.check();
  await clock.advance(kmsHealthyMs);
  await expect(health.check()).rejects.toThrow('down');
  service.failure = undefined;
  await expect(health.check()).rejects.toThrow('down');
  expect(service.callCount).toBe(2);
  await clock.advance(kmsUnhealthyMs);
  await health.check();
  expect(service.callCount).toBe(3);
});

it('KmsHealth rejects when the service decrypts something else', async () => {
  const service = new Service();
  service.decrypted = Buffer.from('pong');
  await expect(new KmsHealth(service, new TestClock()).check()).rejects.toThrow(KmsError);
});
