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

/**
 * The processes of a component of the cluster with this data directory, such as `scheduler`; with `argument`
 * only those that were started with it.
 */
export function componentProcesses(
  component: string,
  dataDirectory: string,
  argument = '',
): number[] {
  const script = `dist/apps/${component}/src/main.js`;
  const pids: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    let commandLine: string;
    try {
      commandLine = readFileSync(`/proc/${name}/cmdline`, 'utf8');
    } catch {
      continue; // ended while we looked
    }
    const words = commandLine.split('\0');
    const isOurs = words.some((word) => word.includes(`${dataDirectory}/`));
    if (!isOurs || !words.some((word) => word.endsWith(script))) continue;
    if (argument === '' || words.includes(argument)) pids.push(Number(name));
  }
  return pids;
}

/** Any one of them. */
export function componentProcess(component: string, dataDirectory: string): number | undefined {
  return componentProcesses(component, dataDirectory)[0];
}

/** Memory of a process that is in RAM. */
export function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (!match) throw new Error(`process ${pid} tells no memory`);
  return Number(match[1]) * 1024;
}
