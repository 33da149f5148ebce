/** `/run/<namespace>/<pod>/<container>?cmd=...`: runs a command to its end and answers with its output. */
import type { ServerResponse } from 'node:http';
import { commandRunTimeoutMs } from '../../limits.js';
import { Refusal } from '../refusal.js';
import { containerOf, type StreamParts } from './stream-target.js';

export async function serveRun(
  parts: StreamParts,
  names: readonly string[],
  parameters: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const plain = { 'content-type': 'text/plain; charset=utf-8' };
  try {
    const { status } = await containerOf(parts, names);
    const command = (parameters.get('cmd') ?? '').split(' ').filter((word) => word !== '');
    if (command.length === 0) throw new Refusal(400, 'cmd says no command');
    const { stdout, stderr } = await parts.runtime.execSync(
      status.id,
      command,
      commandRunTimeoutMs,
    );
    response.writeHead(200, plain).end(Buffer.concat([stdout, stderr]));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    response.writeHead(error.statusCode, plain).end(`${error.message}\n`);
  }
}
