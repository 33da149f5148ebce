/** How volumes are recycled, from the flags: the pods are read from files at the start. */
import { readFileSync } from 'node:fs';
import { errorMessage } from '@orch/component';
import type { Pod, PodSpec } from '@orch/types/core/v1';
import { parse } from 'yaml';
import type { StorageOptions } from '../common/storage-options.js';
import { clearingTemplate, type RecyclingPolicies } from './reclaim-plan.js';

/** Throws if a file is not a pod with a volume. */
export function recyclingPolicies(options: StorageOptions): RecyclingPolicies {
  return {
    nfs: {
      template: templateOf(options.nfsRecyclerTemplateFile),
      minimumSeconds: options.nfsRecyclerMinimumSeconds,
      secondsPerGib: options.nfsRecyclerSecondsPerGib,
    },
    hostPath: {
      template: templateOf(options.hostPathRecyclerTemplateFile),
      minimumSeconds: options.hostPathRecyclerMinimumSeconds,
      secondsPerGib: options.hostPathRecyclerSecondsPerGib,
    },
  };
}

function templateOf(file: string): PodSpec {
  if (file === '') return clearingTemplate;
  const spec = read(file)?.spec;
  if (!spec?.containers?.length || !spec.volumes?.length) {
    throw new Error(`${file} must have a pod with a container and a volume`);
  }
  return { ...spec, restartPolicy: 'Never' };
}

function read(file: string): Pod | null {
  try {
    return parse(readFileSync(file, 'utf8')) as Pod | null;
  } catch (error) {
    throw new Error(`the pod that recycles volumes cannot be read: ${errorMessage(error)}`);
  }
}
