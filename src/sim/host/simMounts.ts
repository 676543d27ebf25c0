/**
 * The Mounts port in memory: latency, deadline and outcome of each operation on a simulated file tree. The mounts
 * survive a restart of the kubelet, but not a reboot.
 */
import { Observable, switchMap } from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import type { MountEntry } from "../../core/mount/mountInfo.ts";
import type { Call, CallOptions } from "../../ports/call.ts";
import { deadline } from "../../operators/deadline.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Mounts } from "../../ports/mounts.ts";
import { atOnce, later, outcome, type SimAction } from "../runtime/simCall.ts";
import { createMountEffects } from "./simMountEffects.ts";
import type { SimTree } from "./simTree.ts";

/** Operations of the port; `lazy unmount` detaches. */
export type SimMountRequest = keyof Mounts | "lazy unmount";

/** The port, and the host's view. */
export interface SimMounts extends Mounts {
  /** Returns the mounts other than the file systems of the machine, oldest first. */
  all(): readonly MountEntry[];
  /** Returns the paths that loop devices keep in use. */
  loops(): readonly string[];
  /** Mounts and unmounts at once, as a program on the host does. */
  readonly byHost: Pick<ReturnType<typeof createMountEffects>, "mount" | "bindTree" | "unmount">;
  /** Removes all mounts, as a boot does. */
  clear(): void;
}

export interface SimMountsOptions {
  readonly clock: Clock;
  readonly tree: SimTree;
  /** Latency of every operation; default 0, the scheduler's next action. */
  readonly latencyMs?: number;
  /** Decides the outcome of an operation right before it happens; default: it succeeds. */
  fate?: ((operation: SimMountRequest, target: string) => SimAction) | undefined;
  /**
   * Returns whether an operation still happens after the kubelet is gone, since tools of the host continue to run.
   * Default: no.
   */
  goesOn?: ((operation: SimMountRequest, target: string) => boolean) | undefined;
  /** Whether SELinux is on; default: no. */
  readonly hasLabels?: boolean;
}

const MOUNT_MS = 120_000;
const FORMAT_MS = 3_600_000;
const DEFAULT_MS = 30_000;
const PROCEED: SimAction = { kind: "proceed" };

/** Creates an empty mount table. */
export function createSimMounts(options: SimMountsOptions): SimMounts {
  const { clock, tree, latencyMs = 0, fate, goesOn, hasLabels = false } = options;
  const effects = createMountEffects(tree, hasLabels);
  const call = <T>(operation: SimMountRequest, target: string, deadlineMs: number, effect: () => T): Call<T> => {
    const action = (): SimAction => fate?.(operation, target) ?? PROCEED;
    const late = () => kubeletError("DeadlineExceeded", `${operation} ${target}: not done within ${deadlineMs} ms`);
    const isLeft = (): boolean => goesOn?.(operation, target) ?? false;
    return performed(clock, latencyMs, action, isLeft, effect).pipe(deadline(deadlineMs, clock, late));
  };
  const bound = (options: CallOptions | undefined, usualMs: number): number => options?.deadlineMs ?? usualMs;
  return {
    list: () => call("list", "/", DEFAULT_MS, effects.all),
    realPath: (path) => call("realPath", path, DEFAULT_MS, () => tree.mounts.walk(path).path),
    mount: (request, more) => call("mount", request.target, bound(more, MOUNT_MS), () => effects.mount(request)),
    formatAndMount: (request, more) =>
      call("formatAndMount", request.target, bound(more, FORMAT_MS), () => effects.mount(request)),
    bind: ({ source, target, readOnly = false, recursive = false }, more) =>
      call("bind", target, bound(more, DEFAULT_MS), () => effects.bindTree(source, target, readOnly, recursive)),
    growFileSystem: ({ mountPoint }, more) =>
      call("growFileSystem", mountPoint, bound(more, FORMAT_MS), () => effects.existing(mountPoint)),
    attachLoop: (path, more) =>
      call("attachLoop", path, bound(more, DEFAULT_MS), () => {
        effects.existing(path);
        effects.loops.attach(path);
      }),
    detachLoops: (path, more) => call("detachLoops", path, bound(more, DEFAULT_MS), () => effects.loops.detach(path)),
    makeReadOnly: (target, more) =>
      call("makeReadOnly", target, bound(more, DEFAULT_MS), () => effects.makeReadOnly(target)),
    unmount(target, { isLazy = false, ...more } = {}) {
      return call(isLazy ? "lazy unmount" : "unmount", target, bound(more, DEFAULT_MS), () =>
        effects.unmount(target, isLazy),
      );
    },
    bindInside: (request, more) =>
      call("bindInside", request.target, bound(more, DEFAULT_MS), () => effects.bindInside(request)),
    makeInside: (place) => call("makeInside", place.volumeRoot, DEFAULT_MS, () => effects.makeInside(place)),
    all: effects.all,
    loops: effects.loops.all,
    byHost: effects,
    clear: effects.clear,
  };
}

/** Performs a request at one instant, with the outcome that `fate` decides; without a caller only if it `goesOn`. */
function performed<T>(
  clock: Clock,
  latencyMs: number,
  fate: () => SimAction,
  goesOn: () => boolean,
  effect: () => T,
): Call<T> {
  const happening$ = later(clock, latencyMs, fate).pipe(
    switchMap((action) =>
      outcome(action, () => (action.kind === "delay" ? later(clock, action.ms, effect) : atOnce(effect))),
    ),
  );
  return new Observable((caller) => {
    let isAnswered = false;
    const way = happening$.subscribe({
      next(value) {
        isAnswered = true;
        caller.next(value);
      },
      error(thrown: unknown) {
        isAnswered = true;
        caller.error(thrown);
      },
      complete: () => caller.complete(),
    });
    return () => {
      if (isAnswered || !goesOn()) way.unsubscribe();
    };
  });
}
