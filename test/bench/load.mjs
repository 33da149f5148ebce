/** The HTTPS load generator in a child process. */
import { Child } from './child.mjs';

export class Load {
  constructor({ port, token }) {
    this.child = new Child('load-process.mjs');
    this.ready = this.child.run('connect', { port, token });
  }

  run(command, settings) {
    return this.child.run(command, settings);
  }

  stop() {
    return this.child.stop();
  }
}
