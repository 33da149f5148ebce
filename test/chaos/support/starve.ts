/**
 * Limits the processor time of a process: a control group with a quota if available (version 1,
 * as root), else SIGSTOP for 95 ms of each 100.
 */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const groups = '/sys/fs/cgroup/cpu';
const periodUs = 100_000;
const shareUs = 5_000;

/** Returns a function that ends the limit. */
export function starve(pid: number): () => void {
  return existsSync(join(groups, 'cpu.cfs_quota_us')) ? starveByGroup(pid) : starveBySignals(pid);
}

function starveByGroup(pid: number): () => void {
  const group = join(groups, `chaos-${pid}`);
  mkdirSync(group);
  writeFileSync(join(group, 'cpu.cfs_period_us'), String(periodUs));
  writeFileSync(join(group, 'cpu.cfs_quota_us'), String(shareUs));
  writeFileSync(join(group, 'cgroup.procs'), String(pid));
  return () => {
    writeFileSync(join(group, 'cpu.cfs_quota_us'), '-1');
    writeFileSync(join(groups, 'cgroup.procs'), String(pid));
    rmdirSync(group);
  };
}

function starveBySignals(pid: number): () => void {
  const timer = setInterval(() => {
    process.kill(pid, 'SIGSTOP');
    setTimeout(() => process.kill(pid, 'SIGCONT'), (periodUs - shareUs) / 1_000);
  }, periodUs / 1_000);
  return () => clearInterval(timer);
}
