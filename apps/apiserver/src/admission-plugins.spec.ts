/** Servers whose admission plugins are not those of the release. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const pods = '/api/v1/namespaces/new/pods';
const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'a', image: 'i:1' }] } };

describe('a server with other admission plugins', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await RunningServer.start([
      '--enable-admission-plugins=NamespaceAutoProvision,AlwaysPullImages',
      '--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds',
    ]);
  }, 30_000);

  afterAll(() => server.stop());

  it('makes a namespace when something is created in it, but not for nothing', async () => {
    const dry = await server.call('POST', `${pods}?dryRun=All`, { body: pod });
    expect(dry.code).toBe(404);
    expect((await server.call('GET', '/api/v1/namespaces/new')).code).toBe(404);
    const many = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        server.call('POST', pods, { body: { ...pod, metadata: { name } } }),
      ),
    );
    expect(many.map(({ code }) => code)).toEqual([201, 201, 201]);
    const { status } = await server.must('GET', '/api/v1/namespaces/new');
    expect(status.phase).toBe('Active');
  });

  it('does what is switched on and not what is switched off', async () => {
    const { spec } = await server.must('POST', pods, pod);
    expect(spec.containers[0].imagePullPolicy).toBe('Always');
    expect(spec.serviceAccountName).toBeUndefined();
    expect(spec.tolerations).toBeUndefined();
  });
});
