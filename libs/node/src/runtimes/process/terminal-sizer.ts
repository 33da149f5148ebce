/** Sets the size of a terminal by its path. */
import { spawn } from 'node:child_process';
import { terminalNameBytesMax } from '../../limits.js';
import type { TerminalSize } from '../container-runtime.js';
import { helperEnvironment } from './helper-command.js';

/**
 * Sets sizes sequentially; if several arrive in the meantime, or before the path is known, only the
 * last.
 */
export class TerminalSizer {
  private path = '';
  private pending: TerminalSize | undefined;
  private isSetting = false;

  /** Adds a part of the path, which ends in a newline. */
  appendPath(text: string): void {
    if (this.path.length < terminalNameBytesMax) this.path += text;
    this.next();
  }

  resize(size: TerminalSize): void {
    this.pending = size;
    this.next();
  }

  private next(): void {
    const { pending, path } = this;
    if (!pending || this.isSetting || !/^\/dev\/pts\/\d+\n$/.test(path)) return;
    this.pending = undefined;
    this.isSetting = true;
    const size = ['rows', String(pending.rows), 'cols', String(pending.columns)];
    const child = spawn('stty', ['-F', path.trim(), ...size], {
      env: helperEnvironment,
      stdio: 'ignore',
    });
    const done = () => {
      this.isSetting = false;
      this.next();
    };
    // Errors are ignored: the terminal may have been closed.
    child.once('error', done);
    child.once('exit', done);
  }
}
