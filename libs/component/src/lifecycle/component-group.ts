/** The components of a process: they start together, and stop one after the other, in reverse. */
import { type ExitCode, exitCodes } from './exit-codes.js';
import type { KeptComponent } from './kept-component.js';

export class ComponentGroup {
  private stopped: Promise<ExitCode> | undefined;
  private settleStopped: (code: Promise<ExitCode>) => void = () => undefined;
  private readonly whenStopped = new Promise<ExitCode>((resolve) => {
    this.settleStopped = resolve;
  });

  constructor(private readonly components: readonly KeptComponent[]) {}

  get isStopping(): boolean {
    return this.stopped !== undefined;
  }

  /** How the first component logs. */
  get logging() {
    const { loggingFormat, logLevel } = this.components[0]!.common;
    return { format: loggingFormat, level: logLevel };
  }

  /** Starts all; resolves with the exit code of the process. */
  whenEnded(): Promise<ExitCode> {
    const ended = this.components.map(async (component) => {
      const code = await component.run();
      return this.stopped ?? code;
    });
    return Promise.race([...ended, this.whenStopped]);
  }

  stop(reason: string): void {
    this.stopped ??= this.stopAll(reason);
    this.settleStopped(this.stopped);
  }

  private async stopAll(reason: string): Promise<ExitCode> {
    let first: ExitCode = exitCodes.ok;
    for (const component of [...this.components].reverse()) {
      const code = await component.stop(reason);
      if (first === exitCodes.ok) first = code;
    }
    return first;
  }
}
