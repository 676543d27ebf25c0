/** Owners of memory that can be given up register it here, for the time when there is too little. */
import type { ShedKind } from "../core/memory/memoryShedding.ts";

/** Memory that its owner can give up and have again. */
export interface Sheddable {
  /** Label of a metric: one of a closed set. */
  readonly name: string;
  readonly kind: ShedKind;
  /** Gives it up and returns how many entries that were. */
  shed(): number;
}

export interface Shedding {
  /** Adds it; the result takes it out again. */
  register(sheddable: Sheddable): () => void;
}
