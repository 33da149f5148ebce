/** `/debug/controllers`: the queues and caches of the manager that leads. */
import type { Page } from '@orch/component';
import type { ControllerManager } from '@orch/controllers';

export const debugPath = '/debug/controllers';

export function debugPage(manager: ControllerManager): Page {
  return () => {
    const view = manager.view();
    if (view) {
      const body = JSON.stringify(view, null, 2);
      return { statusCode: 200, contentType: 'application/json', body };
    }
    const body = 'this controller manager does not lead; query the holder of the lease\n';
    return { statusCode: 503, contentType: 'text/plain; charset=utf-8', body };
  };
}
