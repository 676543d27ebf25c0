/** `lifecycle.stopSignal` as CRI numbers it. */
import { Signal } from "../../gen/cri.ts";

const SIGNALS: ReadonlyMap<string, Signal> = new Map(Object.entries(Signal));

/** The signal of this name (`SIGTERM`, `SIGRTMIN+3`); the image's own when none is given, undefined for no signal. */
export function stopSignal(name: string | undefined): Signal | undefined {
  if (name === undefined) return Signal.RUNTIME_DEFAULT;
  const key = name.replace("SIGRTMIN+", "SIGRTMINPLUS").replace("SIGRTMAX-", "SIGRTMAXMINUS");
  return key.startsWith("SIG") ? SIGNALS.get(key) : undefined;
}

/** The name of a signal as the API writes it; undefined for none, and for one CRI does not number. */
export function stopSignalName(signal: Signal): string | undefined {
  if (signal === Signal.RUNTIME_DEFAULT) return undefined;
  const [key] = [...SIGNALS].find(([, number]) => number === signal) ?? [];
  return key?.replace("SIGRTMINPLUS", "SIGRTMIN+").replace("SIGRTMAXMINUS", "SIGRTMAX-");
}
