/** Whether a job has finished, and how. Pure. */
import type { Job, JobCondition, JobStatus } from '@orch/types/batch/v1';

/** The condition `Complete` or `Failed` that is true; undefined while the job runs. */
export function finishedCondition(status: JobStatus | undefined): JobCondition | undefined {
  return status?.conditions?.find(
    ({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True',
  );
}

export function isJobFinished({ status }: Job): boolean {
  return finishedCondition(status) !== undefined;
}
