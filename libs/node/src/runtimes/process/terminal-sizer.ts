/** Sets the size of a terminal by its name. */
import { spawn } from 'node:child_process';
import { terminalNameBytesMax } from '../../limits.js';
import type { TerminalSize } from '../container-runtime.js';
import { helperEnvironment } from './helper-command.js';

/** One size after the other; of those that come meanwhile, or before the name is known, the last counts. */
export class TerminalSizer {
  private path = '';
  private wanted: TerminalSize | undefined;
  private isSetting = false;

  /** The name, as a line; it may come in pieces. */
  named(text: string): void {
    if (this.path.length < terminalNameBytesMax) this.path += text;
    this.next();
  }

  resize(size: TerminalSize): void {
    this.wanted = size;
    this.next();
  }

  private next(): void {
    const { wanted, path } = this;
    if (!wanted || this.isSetting || !/^\/dev\/pts\/\d+\n$/.test(path)) return;
    this.wanted = undefined;
    this.isSetting = true;
    const size = ['rows', String(wanted.rows), 'cols', String(wanted.columns)];
    const child = spawn('stty', ['-F', path.trim(), ...size], {
      env: helperEnvironment,
      stdio: 'ignore',
    });
    const done = () => {
      this.isSetting = false;
      this.next();
    };
    // A terminal that is gone has no size.
    child.once('error', done);
    child.once('exit', done);
  }
}
