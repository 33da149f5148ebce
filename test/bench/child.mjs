/**
 * A process that does one command a message and answers each with one result. `Child` is the side that
 * asks, `serve` the side that answers.
 */
import { fork } from 'node:child_process';
import { join } from 'node:path';

export class Child {
  #ended;

  /** `script`: beside this file. `execArgv`: for profiles. */
  constructor(script, settings = {}, execArgv = []) {
    this.process = fork(join(import.meta.dirname, script), [JSON.stringify(settings)], {
      execArgv,
      serialization: 'advanced',
    });
    this.#ended = new Promise((done) => this.process.once('exit', done));
  }

  get pid() {
    return this.process.pid;
  }

  /** One at a time. */
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

  /** Lets it end by itself, in order. */
  async stop() {
    if (this.process.connected) this.process.disconnect();
    await this.#ended;
  }

  async kill() {
    this.process.kill('SIGKILL');
    await this.#ended;
  }
}

/** `settings` of the process, and what it does with them: `commands` by name, `end` when nobody asks any more. */
export function serve(create) {
  const made = create(JSON.parse(process.argv[2]));
  process.on('message', async ({ command, settings }) => {
    try {
      const { commands } = await made;
      process.send({ result: (await commands[command](settings)) ?? {} });
    } catch (error) {
      process.send({ error: error.stack });
    }
  });
  process.on('disconnect', async () => {
    const { end } = await made;
    await end();
    process.exit(0);
  });
}
