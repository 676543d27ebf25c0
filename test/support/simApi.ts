/** A simulated API server for tests: virtual time, answers as values, watches as what they showed. */
import type { Observable } from "rxjs";
import { type KubeletError, toKubeletError } from "../../src/core/errors.ts";
import type { Pod } from "../../src/core/api.ts";
import type { ApiServer, ApiWatchEvent } from "../../src/ports/apiServer.ts";
import { createSimApiServer, type SimApiServerOptions } from "../../src/sim/apiServer/simApiServer.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";
import { podOf } from "./pods.ts";

/** The events that a watch delivered. */
export interface SeenWatch {
  /** Type, name and version of each event; of bookmarks and errors what they have of it. */
  readonly seen: string[];
  end: { readonly atMs: number; readonly error?: KubeletError } | undefined;
  stop(): void;
}

const shown = ({ type, object }: ApiWatchEvent<unknown>): string => {
  if (type === "ERROR") return `ERROR ${object.code}`;
  const { name = "", resourceVersion } = (object as { metadata: { name?: string; resourceVersion?: string } }).metadata;
  return `${type} ${name}@${resourceVersion}`.replace(" @", "@");
};

/** Makes a server whose requests take 2 ms, unless the options say otherwise. */
export function simApi(options: Omit<SimApiServerOptions, "clock"> = {}) {
  const scheduler = createHeapScheduler();
  const clock = createSimClock(scheduler);
  const server = createSimApiServer({ clock, latency: () => 2, ...options });
  const admin: ApiServer = server.client();
  /** The value of a call; throws its KubeletError. Time moves until it ended. */
  const run = <T>(call: Observable<T>): T => {
    const outcome: { value?: T; error?: unknown; ended: boolean } = { ended: false };
    const subscription = call.subscribe({
      next: (value) => (outcome.value = value),
      error: (error: unknown) => Object.assign(outcome, { error, ended: true }),
      complete: () => (outcome.ended = true),
    });
    while (!outcome.ended && scheduler.runNext());
    subscription.unsubscribe();
    if ("error" in outcome) throw toKubeletError(outcome.error);
    return outcome.value as T;
  };
  return {
    scheduler,
    clock,
    server,
    admin,
    node: (nodeName: string) => server.client({ kind: "node", nodeName }),
    run,
    /** The code, reason and text of a call's error; "no error" for an answer. */
    refusal(call: Observable<unknown>): string {
      try {
        run(call);
        return "no error";
      } catch (thrown) {
        const { code, reason, message } = toKubeletError(thrown);
        return `${code}/${reason}: ${message}`;
      }
    },
    watch<T>(events: Observable<ApiWatchEvent<T>>): SeenWatch {
      const watch: SeenWatch = { seen: [], end: undefined, stop: () => subscription.unsubscribe() };
      const subscription = events.subscribe({
        next: (event) => watch.seen.push(shown(event)),
        error: (thrown: unknown) => (watch.end = { atMs: scheduler.now(), error: toKubeletError(thrown) }),
        complete: () => (watch.end = { atMs: scheduler.now() }),
      });
      return watch;
    },
  };
}

/** A pod as a user sends it: without uid. */
export function newPod(name: string, spec: Partial<Pod["spec"]> = {}, metadata: Partial<Pod["metadata"]> = {}) {
  const { metadata: made, ...pod } = podOf({ name, namespace: "default", spec });
  const { uid: _none, ...given } = { ...made, ...metadata };
  return { ...pod, metadata: given };
}
