/**
 * Checkpoint of a pod's probe verdicts, so that ready containers stay ready over a restart of the kubelet. Keyed by
 * container ID, since a verdict is only valid for its instance. Liveness is not stored: it is probed again.
 */
import { containerId } from "../ids.ts";
import { isJsonObject, parseJson } from "../json.ts";
import type { ProbeVerdict } from "../pod/podActionsTypes.ts";

/** Verdicts by container name. */
export type ProbeVerdicts = ReadonlyMap<string, ProbeVerdict>;

const VERSION = 1;
/**
 * File length is a multiple of this, so that changed verdicts rarely change it and the file can be overwritten in
 * place.
 */
const LENGTH_STEP = 128;

/** Larger than any pod's journal. A longer file is not a journal. */
export const MAX_JOURNAL_BYTES = 1 << 20;

/**
 * Returns the content of the file, ending in a newline. Containers that have not started are omitted: no entry means
 * the same.
 */
export function encodeProbeJournal(verdicts: ProbeVerdicts): string {
  const containers = [...verdicts].flatMap(([name, { containerId: id, started, ready }]) =>
    id === undefined || !started ? [] : [{ name, id, started, ready }],
  );
  const text = JSON.stringify({ version: VERSION, containers });
  return `${text.padEnd(Math.ceil((text.length + 1) / LENGTH_STEP) * LENGTH_STEP - 1)}\n`;
}

/** Returns the verdicts in a file; undefined when it is not a complete journal. */
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
