/** Signals of CRI and of Docker. Pure. */
import { Signal } from "../../gen/cri.ts";

const BY_NAME: ReadonlyMap<string, Signal> = new Map(Object.entries(Signal));
const BY_SIGNAL: ReadonlyMap<Signal, string> = new Map([...BY_NAME].map(([name, signal]) => [signal, name]));

/** Returns the name that Docker knows, for example `SIGRTMIN+1`. */
export const dockerSignal = (signal: Signal): string =>
  (BY_SIGNAL.get(signal) ?? "SIGTERM").replace("SIGRTMINPLUS", "SIGRTMIN+").replace("SIGRTMAXMINUS", "SIGRTMAX-");

/** Returns the signal of a name with or without SIG; that of Docker's default for none, and for an unknown one. */
export function criSignal(name: string): Signal {
  const upper = name.toUpperCase().replace(/^(?!SIG)/, "SIG");
  return (
    BY_NAME.get(upper.replace("SIGRTMIN+", "SIGRTMINPLUS").replace("SIGRTMAX-", "SIGRTMAXMINUS")) ?? Signal.SIGTERM
  );
}
