/**
 * Operations on the volumes of a pod over time. In the diagrams:
 *
 *     commands   s sync, k terminating (containers are stopped), t terminated (none is left)
 *     story      m mount, w write files, u unmount, l unmount lazily, r remove the directory, e an event,
 *                d the volume is there, g nothing of it is
 */
import {
  concat,
  defer,
  EMPTY,
  ignoreElements,
  map,
  merge,
  Observable,
  of,
  shareReplay,
  Subject,
  tap,
  throwError,
  timer,
} from "rxjs";
import { describe, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { type ConfigObject, type ConfigObjects, configObjectsOf } from "../../../../src/core/configObjects.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { monotonicMs, podUid, type PodUid } from "../../../../src/core/ids.ts";
import type { MountEntry } from "../../../../src/core/mount/mountInfo.ts";
import type { PodCommand } from "../../../../src/core/pod/podRegistry.ts";
import { type PodVolumes, volumeStage } from "../../../../src/core/volume/podVolumes.ts";
import { deadline } from "../../../../src/operators/deadline.ts";
import { createPodMemories } from "../../../../src/pipelines/podMemories.ts";
import { createVolumes, type VolumesDeps } from "../../../../src/pipelines/volumes/volumes.ts";
import type { Call, CallOptions } from "../../../../src/ports/call.ts";
import { createKeyedCell } from "../../../../src/state/keyedCell.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { volumeNodeOf } from "../../../support/podVolumes.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

type Volume = NonNullable<Pod["spec"]["volumes"]>[number];

const UID = podUid("uid-1");
const MEMORY: Volume = { name: "v", emptyDir: { medium: "Memory" } };
const SETTINGS: Volume = { name: "v", configMap: { name: "settings" } };
const EXISTING: ConfigObject = { kind: "ConfigMap", metadata: { namespace: "demo", name: "settings", uid: "u" } };

const done = of(undefined);
const busy = throwError(() => kubeletError("Io", "target is busy"));

interface Answers {
  /** How each try in turn ends, and how long it takes; the last one counts for those after it. Default: at once. */
  readonly mount?: readonly Observable<undefined>[];
  readonly unmount?: readonly Observable<undefined>[];
  /** How long it takes to read the objects. Default: they are known at once. */
  readonly readMs?: number;
}

/** Returns an operation of this duration in milliseconds. */
const after = ({ scheduler }: Marbles, ms: number, end: Observable<undefined> = done): Observable<undefined> =>
  concat(timer(ms, scheduler).pipe(ignoreElements()), end);

/** The story of a pod with this volume. `objects` tells of its ConfigMap, as `o`. */
function story(m: Marbles, volume: Volume, commands: string, answers: Answers = {}, objects = ""): Observable<string> {
  const reported = new Subject<string>();
  const mounted: MountEntry[] = [];
  const turn = (letter: string, list: readonly Observable<undefined>[] = [done]) => {
    let tries = 0;
    return (then: () => void, options?: CallOptions): Call<void> =>
      new Observable((caller) => {
        reported.next(letter);
        const answer = list[Math.min(tries, list.length - 1)] ?? EMPTY;
        tries += 1;
        const late = () => kubeletError("DeadlineExceeded", "not done in time");
        return answer.pipe(deadline(options?.deadlineMs ?? 120_000, m.clock, late), tap(then)).subscribe(caller);
      });
  };
  const [mount, unmount, detach] = [turn("m", answers.mount), turn("u", answers.unmount), turn("l")];
  const [write, remove] = [turn("w"), turn("r")];
  const add = (mountPoint: string) =>
    mounted.push({ mountPoint, fsType: "tmpfs", superOptions: [] } as unknown as MountEntry);
  const ports = {
    clock: m.clock,
    telemetry: recordingTelemetry(),
    files: {
      makeDirectory: () => done,
      // The volume has no parts.
      remove: (path: string) => (path.includes("subpaths") ? done : remove(() => {})),
    },
    volumeFiles: { writeAtomic: () => write(() => {}) },
    mounts: {
      list: () => of([...mounted]),
      mount: ({ target }: { readonly target: string }) => mount(() => add(target)),
      unmount: (_: string, options?: CallOptions & { readonly isLazy?: boolean }) =>
        (options?.isLazy === true ? detach : unmount)(() => mounted.pop(), options),
    },
  } as unknown as VolumesDeps["ports"];

  const cell = createKeyedCell<PodUid, PodVolumes>();
  const memory = createPodMemories(monotonicMs(0));
  let known: ConfigObjects = configObjectsOf([]);
  const versions$: Observable<string> = objects === "" ? EMPTY : m.hot(objects);
  const object$ = versions$.pipe(
    tap((version) => {
      known = configObjectsOf([{ ...EXISTING, metadata: { ...EXISTING.metadata, resourceVersion: version } }]);
      memory.objects.set(known);
    }),
    ignoreElements(),
  );
  const node = volumeNodeOf();
  const volumes = createVolumes({
    ports,
    config: { directories: node.directories, syncPeriodMs: 600_000 } as VolumesDeps["config"],
    node,
    sources: {
      objects: {
        follow: () => EMPTY,
        read: () =>
          defer(() =>
            answers.readMs === undefined ? of(known) : timer(answers.readMs, m.scheduler).pipe(map(() => known)),
          ),
      },
      tokens: undefined,
      trustBundles: undefined,
      podCertificates: undefined,
      allocatable: {},
    },
    volumes: cell,
    api: undefined,
    csiDrivers$: undefined,
  });
  const containers = [containerOf({ volumeMounts: [{ name: "v", mountPath: "/v" }] })];
  const pod = podOf({ spec: { volumes: [volume], containers } });
  const phases: Readonly<Record<string, string>> = { s: "sync", k: "terminating", t: "terminated" };
  const commands$ = m.hot(commands).pipe(
    map((letter) => ({ phase: phases[letter], pod }) as unknown as PodCommand),
    // Commands as the pod's worker sends them; a later subscriber receives the newest.
    shareReplay({ bufferSize: 1, refCount: true }),
  );
  let stage = "";
  const stages$ = cell.changes$(UID).pipe(
    tap((now) => {
      const before = stage;
      stage = volumeStage(now);
      if (stage !== before && stage === "mounted") reported.next("d");
      if (stage !== before && stage === "unmounted" && before !== "") reported.next("g");
    }),
    ignoreElements(),
  );
  const run$ = volumes.run(UID, commands$, memory).pipe(map(() => "e"));
  return merge(reported, stages$, object$, run$);
}

describe("a volume of a pod", () => {
  it(
    "is retried after 500 ms, 1 s and so on, with an event for each failure",
    marbles((m) => {
      const unsub = "   4s !";
      const expected = "-m-e 499ms m-e 999ms m-d";

      const failing = after(m, 2, busy);
      const mount = [failing, failing, after(m, 2)];
      const commands = "-s";
      m.expectObservable(story(m, MEMORY, commands, { mount }), unsub).toBe(expected);
    }),
  );

  it(
    "waits for its objects, and is set up as soon as they are known, not when a retry is due",
    marbles((m) => {
      const commands = "-s";
      const objects = " -------o";
      const unsub = "   400ms !";
      const expected = "-e-----(wd)";

      m.expectObservable(story(m, SETTINGS, commands, {}, objects), unsub).toBe(expected);
    }),
  );

  it(
    "is written again when its object changed, and only then",
    marbles((m) => {
      const objects = " -a---a---b---";
      const commands = "--s---s---s--";
      const unsub = "   400ms !";
      const expected = "--(wd)---w---";

      m.expectObservable(story(m, SETTINGS, commands, {}, objects), unsub).toBe(expected);
    }),
  );

  it(
    "stays while containers stop, and is torn down after the last one",
    marbles((m) => {
      const unsub = "   2m !";
      const expected = "-m-d--- 60s u-(rg)";

      const [mount, unmount] = [[after(m, 2)], [after(m, 2)]];
      const commands = "-s----k 60s t";
      m.expectObservable(story(m, MEMORY, commands, { mount, unmount }), unsub).toBe(expected);
    }),
  );

  it(
    "is torn down after a mount in progress, never beside it",
    marbles((m) => {
      const unsub = "   1m !";
      const expected = "-m--------u-(rg)";

      const [mount, unmount] = [[after(m, 9)], [after(m, 2)]];
      const commands = "-s--t";
      m.expectObservable(story(m, MEMORY, commands, { mount, unmount }), unsub).toBe(expected);
    }),
  );

  it(
    "in use stays mounted with its directory, and is unmounted later",
    marbles((m) => {
      const unsub = "   1m !";
      const expected = "-(md)--u- 500ms u- 1000ms u-(rg)";

      const unmount = [after(m, 2, busy), after(m, 2, busy), after(m, 2)];
      const commands = "-s-----t";
      m.expectObservable(story(m, MEMORY, commands, { unmount }), unsub).toBe(expected);
    }),
  );

  it(
    "whose server does not answer is detached after 30 s",
    marbles((m) => {
      const unsub = "   1m !";
      const expected = "-(md)--u 29999ms (lrg)";

      const unmount = [after(m, 600_000)];
      const commands = "-s-----t";
      m.expectObservable(story(m, MEMORY, commands, { unmount }), unsub).toBe(expected);
    }),
  );

  it(
    "whose objects are still being read when its pod ends is neither set up nor retried",
    marbles((m) => {
      const commands = "-s---t";
      const unsub = "   1m !";
      const expected = "-----g";

      m.expectObservable(story(m, SETTINGS, commands, { readMs: 9 }), unsub).toBe(expected);
    }),
  );

  it(
    "that was never mounted is forgotten with its pod, without an unmount",
    marbles((m) => {
      const commands = "-s---t";
      const unsub = "   1m !";
      const expected = "-e---g";

      m.expectObservable(story(m, { name: "v", configMap: { name: "gone" } }, commands), unsub).toBe(expected);
    }),
  );
});
