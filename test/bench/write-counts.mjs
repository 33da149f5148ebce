/** The writes that an API server has completed, by resource, from its metrics. */

const isWrite = /verb="(POST|PUT|PATCH|APPLY|DELETE|DELETECOLLECTION)"/;

export async function writesOf(server) {
  const counts = new Map();
  for (const line of (await server.call('GET', '/metrics')).split('\n')) {
    if (!line.startsWith('apiserver_request_total{') || !isWrite.test(line)) continue;
    const resource = /resource="([^"]*)"/.exec(line)?.[1] || 'none';
    counts.set(resource, (counts.get(resource) ?? 0) + Number(line.split(' ').at(-1)));
  }
  return {
    counts,
    /** Returns the resources that were written until `later`, with the number of writes. */
    until: (later) =>
      [...later.counts]
        .map(([resource, total]) => [resource, total - (counts.get(resource) ?? 0)])
        .filter(([, difference]) => difference > 0),
  };
}
