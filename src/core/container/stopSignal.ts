/** Converts `lifecycle.stopSignal` to CRI's enum. */
import { Signal } from "../../gen/cri.ts";

const SIGNALS: ReadonlyMap<string, Signal> = new Map(Object.entries(Signal));

/**
 * Returns the signal of this name (`SIGTERM`, `SIGRTMIN+3`); the image's default for no name, undefined for an unknown
 * one.
 */
export function stopSignal(name: string | undefined): Signal | undefined {
  if (name === undefined) return Signal.RUNTIME_DEFAULT;
  const key = name.replace("SIGRTMIN+", "SIGRTMINPLUS").replace("SIGRTMAX-", "SIGRTMAXMINUS");
  return key.startsWith("SIG") ? SIGNALS.get(key) : undefined;
}

/** Returns the API's name of a signal; undefined for the image's default and for a signal that CRI does not define. */
export function stopSignalName(signal: Signal): string | undefined {
  if (signal === Signal.RUNTIME_DEFAULT) return undefined;
  const [key] = [...SIGNALS].find(([, number]) => number === signal) ?? [];
  return key?.replace("SIGRTMINPLUS", "SIGRTMIN+").replace("SIGRTMAXMINUS", "SIGRTMAX-");
}
