/** A double of the API server that runs in another process, for as long as it is not closed. */
import { fork } from "node:child_process";
import { once } from "node:events";
import type { Commands } from "./apiServerProcess.ts";

type Answers<C> = C extends (...args: infer Args) => infer Answer ? (...args: Args) => Promise<Awaited<Answer>> : never;

/** Commands of the server, each answered once it was done. */
export type BenchApiServer = { readonly [C in keyof Commands]: Answers<Commands[C]> } & { close(): void };

/** Starts it. */
export async function startBenchApiServer(): Promise<BenchApiServer> {
  const child = fork(new URL("apiServerProcess.ts", import.meta.url), { serialization: "advanced" });
  const waiting = new Map<number, (answer: unknown) => void>();
  await once(child, "message");
  child.on("message", ([id, answer]: readonly [number, unknown]) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  child.on("exit", (code) => {
    if (waiting.size > 0) throw new Error(`the double of the API server ended with ${code}`);
  });
  let last = 0;
  const send = (command: string, args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      child.send([last, command, args]);
    });
  const close = (): void => void child.kill();
  return new Proxy({} as BenchApiServer, {
    get: (_, name: string) => {
      if (name === "close") return close;
      // It is no promise, so awaiting it is safe.
      return name === "then" ? undefined : (...args: readonly unknown[]) => send(name, args);
    },
  });
}
