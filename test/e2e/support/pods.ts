/** What a pod's containers are on this machine: processes that carry the pod's name as HOSTNAME. */
import { readdirSync, readFileSync } from 'node:fs';

/** Pids whose environment says that they run in this pod, newest last. */
export function processesOfPod(podName: string): number[] {
  const pids: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    let environment: string;
    try {
      environment = readFileSync(`/proc/${name}/environ`, 'latin1');
    } catch {
      continue; // the process ended while we looked, or is not ours
    }
    if (environment.split('\0').includes(`HOSTNAME=${podName}`)) pids.push(Number(name));
  }
  return pids.sort((a, b) => a - b);
}

/** The process of a component of the cluster with this data directory, such as `scheduler`. */
export function componentProcess(component: string, dataDirectory: string): number | undefined {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    let commandLine: string;
    try {
      commandLine = readFileSync(`/proc/${name}/cmdline`, 'utf8');
    } catch {
      continue; // ended while we looked
    }
    const script = `dist/apps/${component}/src/main.js`;
    if (commandLine.includes(script) && commandLine.includes(dataDirectory)) return Number(name);
  }
  return undefined;
}

/** Memory of a process that is in RAM. */
export function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (!match) throw new Error(`process ${pid} tells no memory`);
  return Number(match[1]) * 1024;
}
