/** A call to a simulated plugin: its fate, its deadline, and the death of the plugin meanwhile. */
import {
  defer,
  map,
  merge,
  type MonoTypeOperatorFunction,
  NEVER,
  type Observable,
  take,
  throwError,
  timer,
} from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import { deadline } from "../../operators/deadline.ts";
import type { Clock } from "../../ports/clock.ts";

/** The outcome of a call. */
export type SimPluginFate =
  | { readonly kind: "answer" }
  /** An error, and nothing happened; `status` is a code of gRPC, default Unavailable. */
  | { readonly kind: "fail"; readonly status?: number }
  /** An error, although it happened. */
  | { readonly kind: "loseReply"; readonly status?: number }
  /** The plugin answers late. */
  | { readonly kind: "delay"; readonly ms: number }
  /** The plugin answers what a kubelet cannot use; `which` chooses the lie. */
  | { readonly kind: "lie"; readonly which: number }
  /** No answer. */
  | { readonly kind: "hang" };

/** Calls of the kubelet to plugins and drivers. */
export type SimPluginRpc =
  | ("GetInfo" | "NotifyRegistrationStatus")
  | ("GetDevicePluginOptions" | "ListAndWatch" | "GetPreferredAllocation" | "Allocate" | "PreStartContainer")
  | ("NodePrepareResources" | "NodeUnprepareResources")
  | ("GetPluginInfo" | "NodeGetInfo" | "NodeGetCapabilities")
  | SimCsiRpc;

/** Calls of the kubelet to CSI drivers about volumes. */
export type SimCsiRpc =
  | ("NodeStageVolume" | "NodeUnstageVolume" | "NodePublishVolume" | "NodeUnpublishVolume")
  | "NodeExpandVolume";

/** Decides about a call to the plugin of this name. */
export type SimPluginFaults = (rpc: SimPluginRpc, plugin: string) => SimPluginFate;

/** Time until an answer. */
export const PLUGIN_LATENCY_MS = 5;

export interface PluginCall<T> {
  readonly clock: Clock;
  readonly fate: SimPluginFate;
  readonly deadlineMs: number;
  /** Emits when the plugin dies. */
  readonly died$: Observable<unknown>;
  answer(): T;
  /** Returns an answer that a kubelet cannot use. */
  lie(which: number): T;
}

export const pluginFailure = (why: string) => kubeletError("Unavailable", why);

/** Returns the call. Errors: Unavailable, DeadlineExceeded. */
export function pluginCall<T>({ clock, fate, deadlineMs, died$, answer, lie }: PluginCall<T>): Observable<T> {
  const inTime = (ms: number, respond: () => T): Observable<T> => timer(ms, clock.scheduler).pipe(map(respond));
  const answered$ = defer((): Observable<T> => {
    switch (fate.kind) {
      case "answer":
        return inTime(PLUGIN_LATENCY_MS, answer);
      case "delay":
        return inTime(PLUGIN_LATENCY_MS + fate.ms, answer);
      case "lie":
        return inTime(PLUGIN_LATENCY_MS, () => lie(fate.which));
      case "fail":
        return inTime(PLUGIN_LATENCY_MS, () => {
          throw pluginFailure("the plugin is ill");
        });
      case "loseReply":
        return inTime(PLUGIN_LATENCY_MS, () => {
          answer();
          throw pluginFailure("the connection to the plugin was reset");
        });
      case "hang":
        return NEVER;
    }
  });
  return answered$.pipe(unlessDead(died$), deadline(deadlineMs, clock));
}

/** Makes a call fail when its plugin dies. */
export const unlessDead =
  <T>(died$: Observable<unknown>): MonoTypeOperatorFunction<T> =>
  (call$) => {
    const death$ = died$.pipe(
      map((): never => {
        throw pluginFailure("the plugin ended");
      }),
    );
    return merge(call$, death$).pipe(take(1));
  };

/** A call to a socket without a plugin. */
export const refusedCall = (socket: string): Observable<never> =>
  throwError(() => pluginFailure(`connect ECONNREFUSED ${socket}`));
