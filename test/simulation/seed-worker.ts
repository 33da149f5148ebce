/** A process that runs seeds, one after the other: of its own compiled tree or of another one. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SeedOptions, SeedResult } from './run-seed.js';

/** The request to a worker. */
export interface Question extends Omit<SeedOptions, 'show'> {
  /** Directory of the compiled simulation that is to be run. */
  readonly simulation: string;
}

/** In the child: handles requests. */
export function answerQuestions(): void {
  process.on('message', async ({ simulation, ...options }: Question) => {
    const { href } = pathToFileURL(join(simulation, 'run-seed.js'));
    const { runSeed } = (await import(href)) as typeof import('./run-seed.js');
    process.send!(await runSeed(options));
  });
}

export class SeedWorker {
  private child: ChildProcess | undefined;

  /** `main` handles requests when it is started with `--worker`. */
  constructor(private readonly main: string) {}

  /** Rejects when the process ends or has no result in time; the next question gets another one. */
  run(question: Question, timeoutMs: number): Promise<SeedResult> {
    this.child ??= fork(this.main, ['--worker']);
    const child = this.child;
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        child.off('exit', onExit);
        child.off('message', onMessage);
      };
      const fail = (why: string) => {
        end();
        this.child = undefined;
        child.kill('SIGKILL');
        reject(new Error(`seed ${question.seed}: ${why}`));
      };
      const onExit = (code: number | null) => fail(`the process ended (${code})`);
      const onMessage = (result: unknown) => {
        end();
        resolve(result as SeedResult);
      };
      const timer = setTimeout(() => fail(`no result after ${timeoutMs} ms`), timeoutMs);
      child.once('exit', onExit);
      child.once('message', onMessage);
      child.send(question);
    });
  }

  close(): void {
    if (this.child?.connected) this.child.disconnect();
  }
}
