/** What the registry works with for each version of a custom resource: the store in that version. */
import type { Clock } from '@orch/component';
import type { RegistryParts } from '../registry/registry-parts.js';
import type { ServedResource } from '../registry/resource.js';
import type { ConverterOf } from './converter.js';
import type { CustomResources } from './custom-resources.js';
import { VersionReader } from './version-reader.js';
import { definitionChanged, VersionView } from './version-view.js';

export class CustomParts {
  private readonly made = new WeakMap<ServedResource, RegistryParts>();

  constructor(
    private readonly parts: RegistryParts,
    private readonly definitions: CustomResources,
    private readonly converterOf: ConverterOf,
  ) {}

  /** The parts for requests on `served`; those of all for kinds that are built in. */
  of(served: ServedResource): RegistryParts {
    const { custom } = served.definition;
    if (!custom) return this.parts;
    let parts = this.made.get(served);
    if (!parts) {
      parts = { ...this.parts, store: this.view(served, custom.name, this.parts.clock) };
      this.made.set(served, parts);
    }
    return parts;
  }

  private view(served: ServedResource, name: string, clock: Clock): VersionView {
    const { store, table } = this.parts;
    const known = this.definitions.definition(name);
    const stored = table.customInStorage(name);
    if (!known || !stored) throw definitionChanged();
    const converter = this.converterOf(known.kind);
    const reader = new VersionReader(served, stored, known.sinceRevision, converter);
    return new VersionView(store, clock, this.definitions, name, reader);
  }
}
