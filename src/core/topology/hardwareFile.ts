/** The hardware of a pod's containers in its checkpoint: `{"main":{"cpus":"2-3"}}`. */
import { cpuSetText, parseCpuSet } from "../cpu/cpuSet.ts";
import { isJsonObject } from "../json.ts";
import type { ContainerHardware, PodHardware } from "./hardware.ts";

/** Returns the JSON value; undefined if no container has hardware of its own. */
export function encodeHardware(hardware: PodHardware): Readonly<Record<string, unknown>> | undefined {
  const entries = [...hardware].flatMap(([name, { cpus }]) =>
    cpus === undefined ? [] : [[name, { cpus: cpuSetText(cpus) }] as const],
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Reads the JSON value. */
export function decodeHardware(value: unknown): PodHardware | undefined | "damaged" {
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) return "damaged";
  const hardware = new Map<string, ContainerHardware>();
  for (const [name, container] of Object.entries(value)) {
    const cpus = isJsonObject(container) ? container["cpus"] : undefined;
    const parsed = typeof cpus === "string" ? parseCpuSet(cpus) : { fault: "no text" };
    if ("fault" in parsed) return "damaged";
    hardware.set(name, { cpus: parsed.cpus });
  }
  return hardware;
}
