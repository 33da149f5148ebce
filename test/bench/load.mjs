/** The HTTPS load generator in a child process. */
import { Child } from './child.mjs';

export class Load {
  /** `prefix`: of the names of the objects that it creates. */
  constructor({ port, token, prefix = 'object' }) {
    this.child = new Child('load-process.mjs');
    this.ready = this.child.run('connect', { port, token, prefix });
  }

  run(command, settings) {
    return this.child.run(command, settings);
  }

  stop() {
    return this.child.stop();
  }
}
