import { describe, expect, it } from 'vitest';
import { HealthChecks, healthQuery, pingCheck } from './health-checks.js';

function checks(storeDown = false) {
  const health = new HealthChecks();
  health.add(pingCheck);
  health.add({
    name: 'store',
    run: () => {
      if (storeDown) throw new Error('no quorum');
    },
  });
  health.add({ name: 'shutdown', run: () => undefined }, ['readyz']);
  return health;
}
const query = (text: string) => healthQuery(new URLSearchParams(text));

describe('HealthChecks', () => {
  it('responds with ok, and with every check when verbose has any value', async () => {
    expect(await checks().report('healthz', query(''))).toEqual({
      statusCode: 200,
      contentType: 'text/plain; charset=utf-8',
      body: 'ok',
    });
    const answer = await checks().report('readyz', query('verbose=false'));
    expect(answer.body).toBe('[+]ping ok\n[+]store ok\n[+]shutdown ok\nreadyz check passed\n');
  });

  it('excludes checks and reports unknown names', async () => {
    const answer = await checks(true).report('livez', query('verbose&exclude=store&exclude=nope'));
    expect(answer).toMatchObject({
      statusCode: 200,
      body: '[+]ping ok\n[+]store excluded: ok\nwarn: some health checks cannot be excluded: no matches for "nope"\nlivez check passed\n',
    });
  });

  it('finds a check by an alias, and lists it by its name', async () => {
    const health = new HealthChecks();
    const fail = () => {
      throw new Error('no quorum');
    };
    health.add({ name: 'etcd', aliases: ['store'], run: fail });
    expect((await health.report('livez', query(''))).body).toBe(
      '[-]etcd failed: reason withheld\nlivez check failed\n',
    );
    for (const text of ['exclude=store', 'exclude=etcd', 'exclude=etcd&exclude=store']) {
      expect((await health.report('livez', query(`verbose&${text}`))).body).toBe(
        '[+]etcd excluded: ok\nlivez check passed\n',
      );
    }
    expect(await health.reportOne('livez', 'store')).toMatchObject({ statusCode: 500 });
    expect(() => health.add({ name: 'store', run: fail })).toThrow('was added twice');
  });

  it('withholds the reason of a failure except on the path of the check', async () => {
    const health = checks(true);
    expect(await health.report('livez', query(''))).toMatchObject({
      statusCode: 500,
      body: '[+]ping ok\n[-]store failed: reason withheld\nlivez check failed\n',
    });
    expect(await health.reportOne('livez', 'store')).toMatchObject({
      statusCode: 500,
      body: 'internal server error: no quorum\n',
    });
    expect(await health.reportOne('livez', 'ping')).toMatchObject({ statusCode: 200, body: 'ok' });
    expect(await health.reportOne('livez', 'shutdown')).toBeUndefined();
  });
});
