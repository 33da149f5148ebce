/** Requests over separate connections, as of many clients, with a record of every failure. */
import { get } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export function fetchOnce(url: string, timeoutMs = 5_000): Promise<Answer> {
  return new Promise((done, fail) => {
    const request = get(url, { agent: false, timeout: timeoutMs }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => done({ status: response.statusCode ?? 0, body }));
      response.on('error', fail);
    });
    request.on('timeout', () => request.destroy(new Error(`no response in ${timeoutMs} ms`)));
    request.on('error', fail);
  });
}

/** Sends requests sequentially until `stop`. */
export class Traffic {
  readonly failures: string[] = [];
  readonly bodies: string[] = [];
  private running = true;
  private readonly finished: Promise<void>;

  constructor(private readonly url: string) {
    this.finished = this.loop();
  }

  private async loop(): Promise<void> {
    while (this.running) {
      try {
        const { status, body } = await fetchOnce(this.url);
        if (status === 200) this.bodies.push(body);
        else this.failures.push(`status ${status}`);
      } catch (error) {
        this.failures.push(error instanceof Error ? error.message : String(error));
      }
    }
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.finished;
  }
}
