/** The policy file of the mode `ABAC`: a JSON object a line, read once, at start. */
import { readFileSync, statSync } from 'node:fs';
import { errorMessage } from '@orch/component';
import { abacFileBytesMax, abacLineLengthMax } from '../../limits.js';
import { AbacPolicies } from './abac-policies.js';
import { parseAbacPolicy } from './abac-policy.js';

/** The file cannot be used; the message names the file, the line and the mistake. */
export class AbacFileError extends Error {
  override readonly name = 'AbacFileError';
  readonly code = 'abac-file-invalid';
}

/** Throws AbacFileError. */
export function readAbacFile(path: string): AbacPolicies {
  return parseAbacFile(textOf(path), path);
}

function textOf(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > abacFileBytesMax) throw new Error(`larger than ${abacFileBytesMax} bytes`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    const message = `cannot read the policy file ${path}: ${errorMessage(error)}`;
    throw new AbacFileError(message, { cause: error });
  }
}

/** Empty lines and lines that start with # are comments. `path` is for messages. */
export function parseAbacFile(content: string, path: string): AbacPolicies {
  const policies = content.split('\n').flatMap((line, index) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    try {
      if (line.length > abacLineLengthMax) {
        throw new RangeError(`longer than ${abacLineLengthMax} characters`);
      }
      return [parseAbacPolicy(trimmed)];
    } catch (error) {
      const message = `${path} line ${index + 1}: ${errorMessage(error)}`;
      throw new AbacFileError(message, { cause: error });
    }
  });
  return new AbacPolicies(policies);
}
