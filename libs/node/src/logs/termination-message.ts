/** The termination message of a container: from its message file, or from the end of its log. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { errorCode } from '@orch/component';
import {
  terminationFallbackBytesMax,
  terminationFallbackLineCountMax,
  terminationMessageBytesMax,
  terminationMessagesBytesMax,
} from '../limits.js';
import { parseLogRecord } from './log-record.js';

export interface TerminationMessageSource {
  /** Host path of the message file. */
  readonly messagePath?: string;
  readonly logPath: string;
  readonly policy: string;
  readonly exitCode: number;
  /** Number of containers in the pod, which share a limit. */
  readonly containerCount: number;
}

/** Returns the message; empty if there is none. */
export function terminationMessage(source: TerminationMessageSource): string {
  const share = Math.floor(terminationMessagesBytesMax / Math.max(1, source.containerCount));
  const bytesMax = Math.min(terminationMessageBytesMax, share);
  const message = source.messagePath ? head(source.messagePath, bytesMax).toString('utf8') : '';
  if (message !== '') return message;
  if (source.policy !== 'FallbackToLogsOnError' || source.exitCode === 0) return '';
  return lastLines(source.logPath, Math.min(bytesMax, terminationFallbackBytesMax));
}

function lastLines(path: string, bytesMax: number): string {
  // Each record has a header of about 50 bytes.
  const raw = tail(path, bytesMax + terminationFallbackLineCountMax * 64 + 4_096);
  const texts: string[] = [];
  for (const line of raw.toString('latin1').split('\n')) {
    const record = parseLogRecord(Buffer.from(line, 'latin1'));
    if (record) texts.push(`${record.text.toString('utf8')}${record.partial ? '' : '\n'}`);
  }
  const lines = texts.join('').split('\n');
  const last = lines.slice(-terminationFallbackLineCountMax - 1).join('\n');
  const bytes = Buffer.from(last, 'utf8');
  return bytes.subarray(Math.max(0, bytes.length - bytesMax)).toString('utf8');
}

function head(path: string, bytesMax: number): Buffer {
  return readPart(path, () => 0, bytesMax);
}

function tail(path: string, bytesMax: number): Buffer {
  return readPart(path, (size) => Math.max(0, size - bytesMax), bytesMax);
}

function readPart(path: string, offsetOf: (size: number) => number, bytesMax: number): Buffer {
  let handle: number;
  try {
    handle = openSync(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
  try {
    const buffer = Buffer.alloc(bytesMax);
    const bytesRead = readSync(handle, buffer, 0, bytesMax, offsetOf(fstatSync(handle).size));
    return buffer.subarray(0, bytesRead);
  } finally {
    closeSync(handle);
  }
}
