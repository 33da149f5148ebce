/** The configuration of ImagePolicyWebhook. */
import { resolve } from 'node:path';
import { type ConnectionConfig, connectionOf, KubeconfigError, ValueError } from '@orch/component';
import {
  type CheckedMap,
  type ConfigurationDocument,
  checkedMap,
} from '../../configuration/document.js';

export interface ImagePolicyOptions {
  readonly connection: ConnectionConfig;
  /** Time for which an allowing response is cached; 0: it is not. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  /** Pause before the first retry. */
  readonly retryBackoffMs: number;
  /** Whether pods are admitted if the webhook does not respond. */
  readonly defaultAllow: boolean;
}

/** Throws ValueError. */
export function readImagePolicy(document: ConfigurationDocument): ImagePolicyOptions {
  const { imagePolicy } = checkedMap(document, document.value, '', { imagePolicy: 'map' });
  const fields = checkedMap(document, imagePolicy ?? {}, 'imagePolicy', {
    kubeConfigFile: 'string',
    allowTTL: 'number',
    denyTTL: 'number',
    retryBackoff: 'number',
    defaultAllow: 'boolean',
  });
  const duration = durationReader(document, fields);
  const second = 1_000;
  return {
    connection: readConnection(document, String(fields.kubeConfigFile ?? '')),
    allowTtlMs: duration('allowTTL', { unitMs: second, maxMs: 1_800_000, defaultMs: 300_000 }),
    denyTtlMs: duration('denyTTL', { unitMs: second, maxMs: 1_800_000, defaultMs: 30_000 }),
    retryBackoffMs: duration('retryBackoff', { unitMs: 1, maxMs: 300_000, defaultMs: 500 }),
    defaultAllow: fields.defaultAllow === true,
  };
}

function readConnection(
  { file, directory }: ConfigurationDocument,
  path: string,
): ConnectionConfig {
  if (path === '') throw new ValueError(`${file}: imagePolicy.kubeConfigFile is required`);
  try {
    const connection = connectionOf(resolve(directory, path));
    if (connection.exec) {
      throw new KubeconfigError('the image policy webhook does not support credential plug-ins');
    }
    return connection;
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    throw new ValueError(`${file}: imagePolicy.kubeConfigFile: ${error.message}`);
  }
}

interface DurationRange {
  readonly unitMs: number;
  readonly maxMs: number;
  readonly defaultMs: number;
}

/** Durations are numbers of units: 0 is the default, -1 disables. */
function durationReader({ file }: ConfigurationDocument, fields: CheckedMap) {
  return (name: string, { unitMs, maxMs, defaultMs }: DurationRange): number => {
    const value = (fields[name] ?? 0) as number;
    if (value === 0) return defaultMs;
    if (value === -1) return 0;
    if (Number.isInteger(value) && value > 0 && value * unitMs <= maxMs) return value * unitMs;
    throw new ValueError(
      `${file}: imagePolicy.${name}: ${value} is not between 1 and ${maxMs / unitMs}; 0 is the default, -1 disables`,
    );
  };
}
