/** Lines on which the pods and objects of a manifest have their names, for problems that concern two of them. */
import type { Pod } from "../../api.ts";
import { keyOf, type ManifestObject, type ManifestObjectKey } from "../../configObjects.ts";
import { fullNameOf, type PodFullName } from "../../ids.ts";

type Name = PodFullName | ManifestObjectKey;

/** Lines by name, of each pod or object of this name in the order of the manifest. */
export type NameLines = ReadonlyMap<Name, readonly (number | undefined)[]>;

/** A pod, an object or neither, and the line of its name. */
export interface NamedItem {
  readonly line?: number | undefined;
  readonly pod?: Pod;
  readonly object?: ManifestObject;
}

/** Returns the lines of the items in their order. */
export function nameLinesOf(items: readonly NamedItem[]): NameLines {
  const lines = new Map<Name, (number | undefined)[]>();
  for (const { pod, object, line } of items) {
    const name = pod === undefined ? object && keyOf(object) : fullNameOf(pod.metadata);
    if (name === undefined) continue;
    const known = lines.get(name);
    if (known === undefined) lines.set(name, [line]);
    else known.push(line);
  }
  return lines;
}
