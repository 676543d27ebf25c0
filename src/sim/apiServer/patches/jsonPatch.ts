/** JSON patches (RFC 6902): operations on values addressed by JSON pointers, applied all or none. */
import type { JsonPatchOperation } from "../../../core/api/jsonPatchOperation.ts";
import type { Result } from "../../../core/result.ts";
import { sameValue } from "../../../core/sameValue.ts";
import { PatchFault, patchResult } from "./patchFault.ts";
import { isJsonObject } from "../../../core/json.ts";

const MAX_OPERATIONS = 10_000;

/** Applies all operations to `original`. Errors: InvalidArgument naming the operation and the pointer. */
export function jsonPatch(original: unknown, operations: readonly JsonPatchOperation[]): Result<unknown> {
  return patchResult(() => {
    if (operations.length > MAX_OPERATIONS) throw new PatchFault(`more than ${MAX_OPERATIONS} operations`);
    return operations.reduce(operate, original);
  });
}

function operate(document: unknown, operation: JsonPatchOperation): unknown {
  const path = stepsOf(operation.path);
  switch (operation.op) {
    case "add":
      return place(document, path, operation.value, "add");
    case "replace":
      valueAt(document, path, operation.path);
      return place(document, path, operation.value, "replace");
    case "remove":
      return without(document, path, operation.path);
    case "test":
      if (sameValue(valueAt(document, path, operation.path), operation.value)) return document;
      throw new PatchFault(`test ${operation.path}: the value differs`);
    case "copy":
      return place(document, path, valueAt(document, stepsOf(operation.from), operation.from), "add");
    case "move": {
      const moved = valueAt(document, stepsOf(operation.from), operation.from);
      return place(without(document, stepsOf(operation.from), operation.from), path, moved, "add");
    }
    default:
      throw new PatchFault(`unknown operation ${JSON.stringify((operation as { readonly op?: unknown }).op)}`);
  }
}

function stepsOf(pointer: string): readonly string[] {
  if (pointer === "") return [];
  if (typeof pointer !== "string" || !pointer.startsWith("/")) {
    throw new PatchFault(`${JSON.stringify(pointer)} is not a JSON pointer`);
  }
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function indexOf(list: readonly unknown[], step: string, highest: number): number {
  const index = step === "-" ? list.length : /^(0|[1-9]\d*)$/.test(step) ? Number(step) : Number.NaN;
  if (!(index <= highest)) throw new PatchFault(`no element ${step} in a list of ${list.length}`);
  return index;
}

function valueAt(document: unknown, path: readonly string[], pointer: string): unknown {
  let here = document;
  for (const step of path) {
    if (Array.isArray(here)) here = here[indexOf(here, step, here.length - 1)];
    else if (isJsonObject(here) && Object.hasOwn(here, step)) here = here[step];
    else throw new PatchFault(`nothing at ${pointer}`);
  }
  return here;
}

/** Returns a copy of the document in which `change` replaces the parent of the value at the end of the path. */
function changed(
  document: unknown,
  path: readonly string[],
  change: (parent: unknown, step: string) => unknown,
): unknown {
  const [step = "", ...rest] = path;
  if (rest.length === 0) return change(document, step);
  const inner = changed(valueAt(document, [step], `/${step}`), rest, change);
  if (Array.isArray(document)) return document.with(Number(step), inner);
  return { ...(document as object), [step]: inner };
}

function place(document: unknown, path: readonly string[], value: unknown, op: "add" | "replace"): unknown {
  if (path.length === 0) return value;
  return changed(document, path, (parent, step) => {
    if (Array.isArray(parent)) {
      const index = indexOf(parent, step, op === "add" ? parent.length : parent.length - 1);
      return op === "add" ? parent.toSpliced(index, 0, value) : parent.with(index, value);
    }
    if (isJsonObject(parent)) return { ...parent, [step]: value };
    throw new PatchFault(`${op}: no list or map that contains ${JSON.stringify(step)}`);
  });
}

function without(document: unknown, path: readonly string[], pointer: string): unknown {
  valueAt(document, path, pointer);
  if (path.length === 0) throw new PatchFault("remove: the whole document");
  return changed(document, path, (parent, step) => {
    if (Array.isArray(parent)) return parent.toSpliced(indexOf(parent, step, parent.length - 1), 1);
    const { [step]: _gone, ...rest } = parent as Readonly<Record<string, unknown>>;
    return rest;
  });
}
