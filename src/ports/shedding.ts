/** Registry of memory that the process may free when memory is low. */
import type { ShedKind } from "../core/memory/memoryShedding.ts";

/** Memory that its owner can free and rebuild later. */
export interface Sheddable {
  /** Label of a metric, from a closed set. */
  readonly name: string;
  readonly kind: ShedKind;
  /** Frees the memory and returns the number of freed entries. */
  shed(): number;
}

export interface Shedding {
  /** Registers the memory; the returned function removes it. */
  register(sheddable: Sheddable): () => void;
}
