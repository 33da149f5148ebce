/** What the client's tests share. */
import { createLogger, type Logger } from '@orch/component';

export const quietLogger: Logger = createLogger({
  component: 'test',
  format: 'json',
  level: 'fatal',
  write: () => undefined,
});

/** Resolves when `condition` holds; throws with `what` when it does not in time. */
export async function eventually(what: string, condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000; turn++) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`never happened: ${what}`);
}
