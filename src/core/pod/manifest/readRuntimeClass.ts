/** Reads a RuntimeClass from a manifest. Upstream: pkg/apis/node/validation. */
import type { ObjectMeta } from "../../api.ts";
import type { RuntimeClass } from "../../configObjects.ts";
import { besideFaults, type FieldProblem, type FieldProblems, invalidEach } from "../fieldProblem.ts";
import { dnsLabel } from "../validateFormats.ts";
import { validateClusterMetadata, validateLabels } from "../validateMetadata.ts";
import { validateResourceMap } from "../validateResources.ts";
import { decodeObject } from "./decodeObject.ts";

type Raw = Partial<Omit<RuntimeClass, "metadata">> & { readonly metadata?: ObjectMeta };

/** Reads one RuntimeClass. The object is undefined if any problem is an error. */
export function readRuntimeClass(value: unknown): {
  readonly object: RuntimeClass | undefined;
  readonly problems: readonly FieldProblem[];
} {
  const decoded = decodeObject<Raw>("RuntimeClass", value);
  const { metadata, handler = "", ...raw } = decoded.value;
  const object = { ...raw, kind: "RuntimeClass", metadata: { name: "", ...metadata }, handler } as const;
  const problems = [...decoded.problems, ...besideFaults(decoded.problems, violationsOf(object))];
  return { object: problems.some(({ severity }) => severity === "error") ? undefined : object, problems };
}

function* violationsOf({ metadata, handler, overhead, scheduling }: RuntimeClass): FieldProblems {
  yield* validateClusterMetadata(metadata, "metadata");
  yield* invalidEach("handler", handler, dnsLabel(handler));
  yield* validateResourceMap(overhead?.podFixed ?? {}, "overhead.podFixed");
  yield* validateLabels(scheduling?.nodeSelector ?? {}, "scheduling.nodeSelector");
}
