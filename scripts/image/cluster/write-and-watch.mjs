/**
 * `helm test`: creates, changes and deletes an object, and checks that a watch reports each change.
 */
import { randomBytes } from 'node:crypto';
import { CommandError, orchctl, run, say, startOrchctl } from './command.mjs';

const namespace = 'default';
const stepTimeoutMs = 30_000;

await run(async () => {
  const name = `test-${randomBytes(4).toString('hex')}`;
  await apply(name, 'created');
  const watch = follow(name);
  try {
    await watch.next('created');
    await apply(name, 'changed');
    await watch.next('changed');
    await orchctl(['-n', namespace, 'delete', 'configmap', name]);
    await watch.next('changed');
  } finally {
    watch.end();
    await orchctl(['-n', namespace, 'delete', 'configmap', name, '--ignore-not-found']);
  }
  say('wrote, watched and deleted');
});

function apply(name, step) {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data: { step },
  };
  return orchctl(['apply', '-f', '-'], { input: JSON.stringify(object) });
}

/** A watch of the object. Each `next` waits for one step. */
function follow(name) {
  const child = startOrchctl([
    ...['-n', namespace, 'get', 'configmaps', `--field-selector=metadata.name=${name}`, '--watch'],
    ...['-o', 'jsonpath={.data.step}{"\\n"}'],
  ]);
  let seen = '';
  let errors = '';
  let wake = () => undefined;
  child.stdout.on('data', (chunk) => {
    seen += chunk;
    wake();
  });
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  child.on('close', () => wake());
  return {
    async next(step) {
      const deadline = performance.now() + stepTimeoutMs;
      while (!seen.includes('\n')) {
        if (child.exitCode !== null) throw new CommandError(`the watch ended: ${errors}`);
        if (performance.now() > deadline)
          throw new CommandError(`the watch did not report: ${step}`);
        await new Promise((resolve) => {
          const timer = setTimeout(resolve, 500);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const end = seen.indexOf('\n');
      const line = seen.slice(0, end);
      seen = seen.slice(end + 1);
      if (line !== step) throw new CommandError(`the watch reported ${line}, want ${step}`);
    },
    end: () => child.kill(),
  };
}
