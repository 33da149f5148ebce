/** Flags of `orchctl up` and `orchctl down`. */
import { resolve } from 'node:path';
import { type DialectName, dialectNames, Flag, ValueError } from '@orch/component';
import { IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import { builtTree } from './built-tree.js';
import { replicaCounts } from './cluster/cluster-directory.js';
import { nodeCountMax } from './cluster/limits.js';
import { type ComponentName, componentNames } from './processes/process-spec.js';

/** In the checkout. */
const defaultDirectory = resolve(builtTree, '../.orch');

export class DownOptions {
  @Flag({
    name: 'data-dir',
    description: 'directory of the cluster',
    type: 'string',
  })
  dataDir = defaultDirectory;

  /** The absolute path of the directory. */
  get dataDirectory(): string {
    return resolve(this.dataDir);
  }

  get isDefaultDirectory(): boolean {
    return this.dataDirectory === defaultDirectory;
  }
}

export class UpOptions extends DownOptions {
  @Flag({
    name: 'port',
    description: 'port of the API; default: the stored port of the cluster, or 6443',
    type: 'number',
  })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(65_535)
  port?: number;

  @Flag({
    name: 'nodes',
    description:
      'number of node agents; default: the stored number of the cluster, or 2. Higher: more memory is used. Lower: less capacity for pods',
    type: 'number',
  })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(nodeCountMax)
  nodes?: number;

  @Flag({
    name: 'replicas',
    description:
      'number of API servers, each with all data; default: the stored number of the cluster, or 3; fixed when the cluster is created. Higher: more failures are tolerated, writes are slower, more memory is used. Lower: the opposite',
    type: 'number',
  })
  @IsOptional()
  @IsIn(replicaCounts, { message: `must be one of ${replicaCounts.join(', ')}` })
  replicas?: number;

  @Flag({
    name: 'dialect',
    description: `names in the API, ${dialectNames.join(' or ')}; fixed when the cluster is created`,
    type: 'string',
  })
  @IsOptional()
  @IsIn(dialectNames)
  dialect?: DialectName;

  @Flag({
    name: 'components',
    description: `components to start, of ${componentNames.join(', ')}; default: all`,
    type: 'list',
  })
  components: string[] = [];

  @Flag({
    name: 'component-arg',
    description: 'a flag for one component, as NAME=--flag=value; may be repeated',
    type: 'texts',
  })
  componentArgs: string[] = [];

  @Flag({
    name: 'separate-processes',
    description:
      'run each component in a process of its own; by default, all but the API servers share one. Set: a crash or long computation of a component affects no other, about 150 MB more memory is used. Unset: the opposite',
  })
  separateProcesses = false;

  @Flag({
    name: 'detach',
    description: 'run in the background and return when the cluster is ready',
  })
  detach = false;

  /** Set by `--detach` for the process that it starts. */
  @Flag({ name: 'as-detached-supervisor', description: 'internal', hidden: true })
  asDetachedSupervisor = false;

  checkRelations(): void {
    for (const name of this.components) componentNamed('--components', name);
    this.extraArgs();
  }

  chosenComponents(): readonly ComponentName[] {
    if (this.components.length === 0) return componentNames;
    return this.components.map((name) => componentNamed('--components', name));
  }

  extraArgs(): ReadonlyMap<ComponentName, readonly string[]> {
    const result = new Map<ComponentName, string[]>();
    for (const text of this.componentArgs) {
      const at = text.indexOf('=');
      const flag = text.slice(at + 1);
      if (at <= 0 || !flag.startsWith('--')) {
        throw new ValueError(
          `--component-arg: want NAME=--flag=value such as scheduler=--log-level=debug, got ${JSON.stringify(text)}`,
        );
      }
      const name = componentNamed('--component-arg', text.slice(0, at));
      result.set(name, [...(result.get(name) ?? []), flag]);
    }
    return result;
  }
}

function componentNamed(flag: string, name: string): ComponentName {
  const known = componentNames.find((candidate) => candidate === name);
  if (known) return known;
  throw new ValueError(
    `${flag}: unknown component ${JSON.stringify(name)}, want one of ${componentNames.join(', ')}`,
  );
}
