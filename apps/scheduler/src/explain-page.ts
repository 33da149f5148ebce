/**
 * `/debug/explain-scheduling?pod=NAMESPACE/NAME`: why a pod has its node, or why it has none. Only
 * the leader responds, because only it knows the decisions.
 */
import type { Page } from '@orch/component';
import type { Scheduler } from '@orch/scheduling';

export const explainPath = '/debug/explain-scheduling';

export function explainPage(scheduler: Scheduler): Page {
  return (query) => {
    const pod = query.get('pod') ?? '';
    if (!/^[^/]+\/[^/]+$/.test(pod)) return failure(400, 'pod: want NAMESPACE/NAME');
    const result = scheduler.explain(pod);
    if (result === 'not leading') {
      return failure(503, 'this scheduler does not lead; query the holder of the lease');
    }
    if (result === 'unknown') {
      return failure(404, `no pod ${pod} of this scheduler runs or waits`);
    }
    return { statusCode: 200, contentType: 'application/json', body: JSON.stringify(result) };
  };
}

function failure(statusCode: number, message: string) {
  return { statusCode, contentType: 'text/plain; charset=utf-8', body: `${message}\n` };
}
