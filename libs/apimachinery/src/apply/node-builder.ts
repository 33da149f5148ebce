/** Builds nodes of field sets computed from objects. */
import { type FieldSet, leaf, type MutableSet, self, sorted } from './field-set.js';
import { compareElements, type PathElement } from './path-element.js';

/** Collects the steps below a node in any order and builds the node. */
export class NodeBuilder {
  private readonly elements: PathElement[] = [];
  private readonly nodes: FieldSet[] = [];
  private isInOrder = true;

  /** `isPlain`: all steps are field names, which sort as text. */
  constructor(private readonly isPlain: boolean) {}

  add(element: PathElement, node: FieldSet): void {
    const last = this.elements[this.elements.length - 1];
    if (last !== undefined && this.isInOrder) {
      this.isInOrder = this.isPlain ? last < element : compareElements(last, element) < 0;
    }
    this.elements.push(element);
    this.nodes.push(node);
  }

  /** Undefined if the node is neither a member nor has children. */
  finish(member: boolean): FieldSet | undefined {
    const { elements, nodes } = this;
    if (elements.length === 0) return member ? leaf : undefined;
    const result: MutableSet = member ? { [self]: leaf } : {};
    if (!this.isInOrder && this.isPlain) this.sortPlain();
    for (let index = 0; index < elements.length; index += 1) {
      result[elements[index]!] = nodes[index]!;
    }
    return this.isInOrder || this.isPlain ? result : sorted(result);
  }

  /** Insertion sort: types have few fields, and objects set even fewer. */
  private sortPlain(): void {
    const { elements, nodes } = this;
    for (let index = 1; index < elements.length; index += 1) {
      const element = elements[index]!;
      const node = nodes[index]!;
      let at = index;
      for (; at > 0 && elements[at - 1]! > element; at -= 1) {
        elements[at] = elements[at - 1]!;
        nodes[at] = nodes[at - 1]!;
      }
      elements[at] = element;
      nodes[at] = node;
    }
  }
}
