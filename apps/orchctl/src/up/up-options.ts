/** Flags of `orchctl up` and `orchctl down`. */
import { resolve } from 'node:path';
import { type DialectName, dialectNames, Flag, ValueError } from '@orch/component';
import { IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import { replicaCounts } from './cluster-directory.js';
import { type ComponentName, componentNames } from './components.js';
import { nodeCountMax } from './limits.js';

/** The checkout this is built in: dist/apps/orchctl/src/up is five levels down. */
const repositoryRoot = resolve(import.meta.dirname, '../../../../..');

export class DownOptions {
  @Flag({
    name: 'data-dir',
    description: 'directory of the cluster; .orch in the repository when left out',
    type: 'string',
  })
  dataDir = resolve(repositoryRoot, '.orch');

  /** Absolute, whatever was given. */
  get dataDirectory(): string {
    return resolve(this.dataDir);
  }

  get isDefaultDirectory(): boolean {
    return this.dataDirectory === resolve(repositoryRoot, '.orch');
  }
}

export class UpOptions extends DownOptions {
  @Flag({
    name: 'port',
    description: 'port of the API; 6443, or the one the cluster had, when left out',
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
      'node agents; 2, or as many as the cluster had, when left out; more cost memory, fewer leave less room for pods',
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
      'API servers, each with all data; 3, or as many as the cluster has, when left out; more survive more failures and cost memory and a longer way for each write; fixed when the cluster is created',
    type: 'number',
  })
  @IsOptional()
  @IsIn(replicaCounts, { message: `must be one of ${replicaCounts.join(', ')}` })
  replicas?: number;

  @Flag({
    name: 'dialect',
    description: `names of the interface, ${dialectNames.join(' or ')}; fixed when the cluster is created`,
    type: 'string',
  })
  @IsOptional()
  @IsIn(dialectNames)
  dialect?: DialectName;

  @Flag({
    name: 'components',
    description: `what to start, of ${componentNames.join(', ')}; all when left out`,
    type: 'list',
  })
  components: string[] = [];

  @Flag({
    name: 'component-arg',
    description: 'a flag for one component, as NAME=--flag=value; may be repeated',
    type: 'texts',
  })
  componentArgs: string[] = [];

  @Flag({ name: 'detach', description: 'return when ready and go on in the background' })
  detach = false;

  /** Set by `--detach` for the process it starts. */
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
    `${flag}: there is no component ${JSON.stringify(name)}, there are ${componentNames.join(', ')}`,
  );
}
