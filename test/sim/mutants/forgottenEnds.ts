import { isJsonObject, parseJson } from "../../../src/core/json.ts";
import { noFaults } from "../../../src/sim/faults/faultKinds.ts";
import { type Mutant, withPorts } from "./mutant.ts";

/** Takes the end of a pod out of its record. */
function withoutEnd(text: string): string {
  const record = parseJson(text);
  if (!isJsonObject(record) || record["kind"] !== "pod" || !isJsonObject(record["value"])) return text;
  const { status: _, ...value } = record["value"];
  return JSON.stringify({ ...record, value });
}

/** Keeps pods on disk as they were created. */
export const forgottenEnds: Mutant = {
  bug: "a pod that has ended runs again after a boot without the API server",
  caughtBy: "noReturn",
  pods: 16,
  // Containers of the runtime tell of most ends, but not of rejections and evictions.
  faults: { ...noFaults(), offlineBoot: 20, roomTaken: 60 },
  createKubelet: withPorts(({ sealing }) =>
    sealing === undefined
      ? {}
      : { sealing: { ...sealing, seal: (name, text) => sealing.seal(name, withoutEnd(text)) } },
  ),
};
