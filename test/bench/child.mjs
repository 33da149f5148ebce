/**
 * A child process that runs one command per message and returns one result for each. `Child` is the
 * parent's side, `serve` the side of the child.
 */
import { fork } from 'node:child_process';
import { join } from 'node:path';

export class Child {
  /** `script` is in this directory; `execArgv` can enable profiling. */
  constructor(script, settings = {}, execArgv = []) {
    this.process = fork(join(import.meta.dirname, script), [JSON.stringify(settings)], {
      execArgv,
      serialization: 'advanced',
    });
    this.exited = new Promise((done) => this.process.once('exit', done));
  }

  get pid() {
    return this.process.pid;
  }

  /** Runs a command. The caller must await it before the next one. */
  run(command, settings = {}) {
    return new Promise((done, fail) => {
      const ended = (code) => fail(new Error(`${command}: the process ended with ${code}`));
      this.process.once('exit', ended);
      this.process.once('message', ({ result, error }) => {
        this.process.off('exit', ended);
        if (error === undefined) done(result);
        else fail(new Error(`${command}: ${error}`));
      });
      this.process.send({ command, settings });
    });
  }

  /** Ends the process in an orderly way. */
  async stop() {
    if (this.process.connected) this.process.disconnect();
    await this.exited;
  }

  async kill() {
    this.process.kill('SIGKILL');
    await this.exited;
  }
}

/**
 * Serves the commands of the parent. `create` receives the settings of the process and returns its
 * `commands` by name, and `end`, which is called when the parent disconnects.
 */
export function serve(create) {
  const service = create(JSON.parse(process.argv[2]));
  process.on('message', async ({ command, settings }) => {
    try {
      const { commands } = await service;
      process.send({ result: (await commands[command](settings)) ?? {} });
    } catch (error) {
      process.send({ error: error.stack });
    }
  });
  process.on('disconnect', async () => {
    const { end } = await service;
    await end();
    process.exit(0);
  });
}
