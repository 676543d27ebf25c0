/** Immutable fields of ConfigMaps, Secrets and RuntimeClasses. Upstream: the update validations of these kinds. */
import type { ConfigObject, ManifestObject } from "../../configObjects.ts";
import { sameValue } from "../../sameValue.ts";
import { type FieldProblem, type FieldProblems, forbidden, invalid } from "../fieldProblem.ts";

/** Returns the reasons why an object must not replace the known one with the same key; empty when it may. */
export function* immutableViolations(known: ManifestObject, next: ManifestObject): FieldProblems {
  if (known.kind === "RuntimeClass") {
    if (next.kind === known.kind && next.handler !== known.handler) {
      yield invalid("handler", next.handler, "field is immutable");
    }
  } else if (next.kind !== "RuntimeClass") yield* changesOfImmutable(known, next);
}

function* changesOfImmutable(known: ConfigObject, next: ConfigObject): FieldProblems {
  if (known.immutable !== true) return;
  const refuse = (field: string): FieldProblem => forbidden(field, "field is immutable when `immutable` is set");
  if (next.immutable !== true) yield refuse("immutable");
  if (!sameValue(known.data ?? {}, next.data ?? {})) yield refuse("data");
  if (!sameValue(binaryDataOf(known), binaryDataOf(next))) yield refuse("binaryData");
}

const binaryDataOf = (object: ConfigObject): Readonly<Record<string, string>> =>
  (object.kind === "ConfigMap" ? object.binaryData : undefined) ?? {};
