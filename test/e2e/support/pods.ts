/** The containers of a pod on this machine: processes with the pod's name as HOSTNAME. */
import { readdirSync, readFileSync } from 'node:fs';

/** Pids of the processes of a pod, by their environment, newest last. */
export function processesOfPod(podName: string): number[] {
  const pids: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    let environment: string;
    try {
      environment = readFileSync(`/proc/${name}/environ`, 'latin1');
    } catch {
      continue; // the process has ended, or belongs to another user
    }
    if (environment.split('\0').includes(`HOSTNAME=${podName}`)) pids.push(Number(name));
  }
  return pids.sort((a, b) => a - b);
}

/**
 * The processes of a component, such as `scheduler`, of the cluster with this data directory, alone
 * or with others; with `argument`, only processes that were started with it.
 */
export function componentProcesses(
  component: string,
  dataDirectory: string,
  argument = '',
): number[] {
  const pids: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    let commandLine: string;
    try {
      commandLine = readFileSync(`/proc/${name}/cmdline`, 'utf8');
    } catch {
      continue; // the process has ended
    }
    const words = commandLine.split('\0');
    const isOurs = words.some((word) => word.includes(`${dataDirectory}/`));
    if (!isOurs || !runs(words, component)) continue;
    if (argument === '' || words.includes(argument)) pids.push(Number(name));
  }
  return pids;
}

/** Whether a command line is that of the component, or has a section for it. */
function runs(words: readonly string[], component: string): boolean {
  const isProgram = (app: string) =>
    words.some((word) => word.endsWith(`dist/apps/${app}/src/main.js`));
  if (isProgram(component)) return true;
  return isProgram('components') && words.some((word) => word.replace(/-\d+$/, '') === component);
}

/** The first of the processes of a component. */
export function componentProcess(component: string, dataDirectory: string): number | undefined {
  return componentProcesses(component, dataDirectory)[0];
}

/** Resident memory of a process. */
export function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (!match) throw new Error(`process ${pid} has no VmRSS`);
  return Number(match[1]) * 1024;
}
