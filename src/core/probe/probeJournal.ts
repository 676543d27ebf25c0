/**
 * The verdicts of a pod as a file: what a kubelet that starts again needs so that ready containers stay ready. Keyed by
 * container ID: a verdict on another instance is worth nothing. Liveness is not kept: it is asked anew.
 */
import { containerId } from "../ids.ts";
import { isJsonObject, parseJson } from "../json.ts";
import type { ProbeVerdict } from "../pod/podActionsTypes.ts";

/** Verdicts by container name. */
export type ProbeVerdicts = ReadonlyMap<string, ProbeVerdict>;

const VERSION = 1;
/** The length of a file is a multiple of this: verdicts that change leave it as it is, and it is overwritten in place. */
const LENGTH_STEP = 128;

/** More than any pod's journal has; a longer file is not ours. */
export const MAX_JOURNAL_BYTES = 1 << 20;

/** The file's content, ending in a newline. A container that has not started is what one without an entry is. */
export function encodeProbeJournal(verdicts: ProbeVerdicts): string {
  const containers = [...verdicts].flatMap(([name, { containerId: id, started, ready }]) =>
    id === undefined || !started ? [] : [{ name, id, started, ready }],
  );
  const text = JSON.stringify({ version: VERSION, containers });
  return `${text.padEnd(Math.ceil((text.length + 1) / LENGTH_STEP) * LENGTH_STEP - 1)}\n`;
}

/** The verdicts in a file; undefined when it is not a whole journal. */
export function decodeProbeJournal(text: string): ProbeVerdicts | undefined {
  const document = parseJson(text);
  if (!isJsonObject(document) || document["version"] !== VERSION || !Array.isArray(document["containers"]))
    return undefined;
  const verdicts = new Map<string, ProbeVerdict>();
  for (const entry of document["containers"] as readonly unknown[]) {
    if (!isJsonObject(entry)) return undefined;
    const { name, id, started, ready } = entry;
    if (typeof name !== "string" || typeof id !== "string") return undefined;
    if (typeof started !== "boolean" || typeof ready !== "boolean") return undefined;
    verdicts.set(name, { started, ready, live: true, containerId: containerId(id) });
  }
  return verdicts;
}
