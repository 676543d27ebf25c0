/**
 * The worker of one volume of a pod: sets it up while it is desired, again when its content changed, and tears it
 * down once it is no longer desired. The cell `volumes` has its state. Bound: one operation at a time; failures wait
 * 500 ms doubling to 2 min 2 s.
 *
 *     wishes     wanted-------------------(object changed)------not wanted
 *     runs       [set up fails]   [set up]       [set up]       [tear down]|
 *                              ---^
 */
import {
  catchError,
  concat,
  connect,
  defer,
  EMPTY,
  filter,
  map,
  merge,
  type Observable,
  of,
  share,
  switchMap,
  tap,
  throwError,
} from "rxjs";
import type { Pod } from "../../core/api.ts";
import { toKubeletError } from "../../core/errors.ts";
import { republishInputs, untilRepublish } from "../../core/csi/republish.ts";
import type { PodUid } from "../../core/ids.ts";
import { podVolumeSubpathsDir } from "../../core/paths.ts";
import { podEventObject } from "../../core/pod/podEvents.ts";
import { ok } from "../../core/result.ts";
import { setUpFailure } from "../../core/volume/podVolumes.ts";
import type { Payload } from "../../core/volume/payloadFile.ts";
import { type BlockedVolume, failedCheck, type SetUpError } from "../../core/volume/volumeChecks.ts";
import {
  EMPTY_DIR_PLUGIN,
  LOCAL_PLUGIN,
  type Volume,
  volumeKey,
  type VolumeLayout,
  type VolumeNode,
} from "../../core/volume/volumeLayout.ts";
import {
  absentVolume,
  measuredOf,
  mountedVolume,
  type ActualVolume,
  volumeStep,
  withFailure,
  withoutFailure,
} from "../../core/volume/volumePlan.ts";
import { orElse } from "../../operators/orElse.ts";
import { reconcile } from "../../operators/reconcile.ts";
import type { Clock } from "../../ports/clock.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import { tearDownBlock } from "./blockTearDown.ts";
import { releaseDevice } from "./deviceMounts.ts";
import type { DeviceTurns } from "./deviceTurns.ts";
import { isLarger } from "./expandVolume.ts";
import { expandMounted, expandSetUp, type GrowthDeps } from "./volumeGrowth.ts";
import { type ContentSources, gatherContent, NO_CONTENT, type VolumeContent } from "./volumeContent.ts";
import { setUpVolume, tearDownVolume, type VolumePorts } from "./volumeEffects.ts";
import { observeWait, timed, type Wait } from "./reportVolumeMetrics.ts";
import { ownSteps, ownTearDown, type VolumeKinds } from "./volumeKinds.ts";
import { hasNews, volumeNews } from "./volumeNews.ts";
import { writeContent, type WriteContentDeps } from "./writeContent.ts";

/** The desired state of the volume. */
export interface Wanted {
  readonly pod: Pod;
  readonly volume: Volume;
  readonly layout: VolumeLayout;
}

/** The place for the actual state of the volume. */
export interface VolumeRecord {
  get(): ActualVolume | undefined;
  set(actual: ActualVolume | undefined): void;
}

export interface VolumeWorkerDeps extends WriteContentDeps {
  readonly uid: PodUid;
  readonly ports: VolumePorts & { readonly clock: Clock };
  readonly rootDir: string;
  readonly node: Pick<VolumeNode, "labels" | "selinuxEnabled">;
  readonly sources: ContentSources;
  readonly record: VolumeRecord;
  readonly turns: DeviceTurns;
  readonly kinds: VolumeKinds;
  readonly claims: GrowthDeps["claims"];
  readonly sizes: GrowthDeps["sizes"];
  /** Maximum time between two checks of the content. */
  readonly syncPeriodMs: number;
}

/** Minimum delay before another attempt to renew a token. */
const SOONEST_RENEWAL_MS = 10_000;

/** Runs until unsubscribed; `wishes$` emits the desired state, again whenever it may have changed. Never errors. */
export function volumeWorker(wishes$: Observable<Wanted | undefined>, deps: VolumeWorkerDeps): Observable<PodOutput> {
  return defer(() => {
    const { clock } = deps.ports;
    let wanted: Wanted | undefined;
    let content: VolumeContent = NO_CONTENT;
    const wait: Wait = { since: undefined };
    const look$ = defer(() => {
      const now = wanted;
      const gathered$ =
        now?.layout.hasContent === true ? gatherContent(now.pod, now.volume, deps.sources) : of(noContent(now, deps));
      return gathered$.pipe(
        tap((gathered) => (content = gathered)),
        // Skip if the volume was unwanted while its content was gathered.
        switchMap((gathered) => carryOut(wanted && now, gathered, wait, deps)),
      );
    });
    const rounds = (triggers$: Observable<unknown>): Observable<PodOutput> =>
      reconcile({ triggers$, run: () => look$, wakeAfterMs: () => wakeAfterMs(wanted, content, deps), clock });
    const followed$ = wishes$.pipe(
      tap((wish) => {
        if (wanted === undefined && wish !== undefined) wait.since = clock.monotonicMs();
        wanted = wish;
      }),
    );
    if (!hasNews(deps.sources)) return rounds(followed$);
    return followed$.pipe(
      connect((shared$) => {
        const news$ = volumeNews(shared$, deps.sources).pipe(share());
        // Subscribe to the news first: it follows the sources that the check reads.
        const warnings$ = news$.pipe(
          map(({ warning }) => warning),
          filter((warning) => warning !== undefined),
        );
        return merge(warnings$, rounds(merge(shared$, news$)));
      }),
    );
  });
}

/**
 * A volume of a driver whose set up failed is set up again at once when the driver registers, while a tear down keeps its
 * delay; a volume that is published again has different inputs once that is due.
 */
function noContent(wanted: Wanted | undefined, deps: VolumeWorkerDeps): VolumeContent {
  const { kinds, record, ports, syncPeriodMs } = deps;
  const { csi, flex } = wanted?.layout ?? {};
  const driver =
    csi === undefined ? flex && kinds.flex?.drivers.value.get(flex.driver) : kinds.csi?.drivers.value.get(csi.driver);
  const actual = record.get();
  if (csi === undefined && flex === undefined) return NO_CONTENT;
  if (csi?.isRepublished === true) {
    return { ...NO_CONTENT, inputs: republishInputs(driver, actual, ports.clock.monotonicMs(), syncPeriodMs) };
  }
  return { ...NO_CONTENT, inputs: actual?.condition === "mounted" ? actual.inputs : [driver] };
}

function wakeAfterMs(wanted: Wanted | undefined, { dueAt }: VolumeContent, deps: VolumeWorkerDeps): number | undefined {
  const { clock } = deps.ports;
  const actual = deps.record.get();
  const againAt = actual?.failure?.againAt;
  const isRepublished = wanted?.layout.csi?.isRepublished === true && againAt === undefined;
  const dueMs = isRepublished ? untilRepublish(actual, clock.monotonicMs(), deps.syncPeriodMs) : undefined;
  const waits = [
    ...(dueMs === undefined ? [] : [dueMs]),
    ...(againAt === undefined ? [] : [Math.max(0, againAt - clock.monotonicMs())]),
    ...(wanted?.layout.hasContent === true ? [deps.syncPeriodMs] : []),
    ...(wanted === undefined || dueAt === undefined ? [] : [Math.max(SOONEST_RENEWAL_MS, dueAt - clock.wallTime())]),
  ];
  return waits.length === 0 ? undefined : Math.min(...waits);
}

function carryOut(
  wanted: Wanted | undefined,
  content: VolumeContent,
  wait: Wait,
  deps: VolumeWorkerDeps,
): Observable<PodOutput> {
  const { record, ports } = deps;
  const actual = record.get();
  const wish = wanted && {
    ...{ layout: wanted.layout, inputs: content.inputs },
    isLarger: isLarger(wanted.layout, deps),
  };
  const step = volumeStep(wish, actual, ports.clock.monotonicMs());
  switch (step.kind) {
    case "nothing":
    case "wait":
      return EMPTY;
    case "recovered":
      record.set(actual && withoutFailure(actual));
      return EMPTY;
    case "forget":
      record.set(undefined);
      return EMPTY;
    case "setUp":
      return wanted === undefined ? EMPTY : setUp(wanted, content, wait, deps);
    case "expand":
      return wanted === undefined ? EMPTY : expandMounted(wanted, content.inputs, deps);
    case "tearDown":
      return actual === undefined ? EMPTY : tearDown(actual, deps);
  }
}

function setUp(
  { pod, layout }: Wanted,
  content: VolumeContent,
  wait: Wait,
  deps: VolumeWorkerDeps,
): Observable<PodOutput> {
  const { record, ports } = deps;
  const { inputs } = content;
  const before = { ...(record.get() ?? absentVolume(layout)), ...measuredOf(layout) };
  const log = ports.telemetry.log.with({ podUid: deps.uid, volume: layout.name, plugin: layout.plugin });
  const fail = (error: SetUpError): Observable<PodOutput> => {
    record.set(withFailure(record.get() ?? before, { operation: "setUp", error, inputs }, ports.clock.monotonicMs()));
    log.warn("Cannot set up a volume", { error });
    return of(eventOutput({ type: "Warning", ...setUpFailure(layout, error), object: podEventObject(pod) }));
  };
  wait.since ??= ports.clock.monotonicMs();
  const check = failedCheck(layout, deps.node.labels);
  if (check !== undefined) return fail(check);
  const own = ownSteps(ports, deps.kinds, pod, layout, {
    rootDir: deps.rootDir,
    selinuxEnabled: deps.node.selinuxEnabled,
  });
  const waitsFor = own?.wait();
  if (typeof waitsFor === "string" || (waitsFor !== undefined && "isBlocked" in waitsFor)) {
    noteWait(record, before, waitsFor);
    return EMPTY;
  }
  if (waitsFor !== undefined) {
    record.set({ ...before, condition: "uncertain", waitsFor: waitsFor.message, isBlocked: false });
    const refused$ = throwError(() => waitsFor);
    return timed(refused$, "volume_attach", layout, ports).pipe(orElse(() => fail(waitsFor)));
  }
  const make = (payload: Payload | undefined): Observable<PodOutput> =>
    defer(() => {
      // The volume may exist in part until its setup is complete: a teardown must know that.
      if (before.condition !== "mounted") record.set({ ...before, condition: "uncertain" });
      const object = podEventObject(pod);
      const made$ = own === undefined ? setUpVolume(ports, layout, payload, deps.turns) : own.setUp();
      return made$.pipe(map((notice) => eventOutput({ type: "Warning", ...notice, object })));
    });
  const made = layout.hasContent ? writeContent(layout.name, content, deps, make) : ok(make(undefined));
  if (!made.ok) return fail(made.error);
  return concat(
    timed(
      concat(made.value, expandSetUp({ pod, layout }, deps)),
      layout.block === undefined ? "volume_mount" : "map_volume",
      layout,
      ports,
    ),
    defer(() => (own !== undefined && layout.selinuxRelabel ? own.isLabelled() : of(true))).pipe(
      switchMap((isLabelled) => {
        record.set(mountedVolume(before, inputs, isLabelled));
        observeWait(wait, layout, ports);
        log.debug("volumeWorker", before.condition === "mounted" ? "Volume is up to date" : "Volume is mounted");
        return EMPTY;
      }),
    ),
  ).pipe(catchError((thrown: unknown) => fail(toKubeletError(thrown))));
}

function noteWait(record: VolumeRecord, before: ActualVolume, wait: string | BlockedVolume): void {
  const waitsFor = typeof wait === "string" ? wait : wait.message;
  if (before.waitsFor === waitsFor) return;
  record.set({ ...withoutFailure(before), condition: "uncertain", waitsFor, isBlocked: typeof wait !== "string" });
}

/** Releases the resources that a volume of this plugin holds besides its own directory. */
function releaseShared({ plugin, name, path }: ActualVolume, deps: VolumeWorkerDeps): Observable<unknown> | undefined {
  const { ports, rootDir, turns } = deps;
  if (plugin === LOCAL_PLUGIN) return releaseDevice(ports, { rootDir }, name, turns);
  return plugin === EMPTY_DIR_PLUGIN ? ports.quotas?.clear(path) : undefined;
}

function tearDown(actual: ActualVolume, deps: VolumeWorkerDeps): Observable<PodOutput> {
  const { record, ports, uid, rootDir } = deps;
  const { name, path, isOwnDirectory, isBlock, plugin } = actual;
  const subPaths = `${podVolumeSubpathsDir({ rootDir }, uid)}/${name}`;
  const released$ = releaseShared(actual, deps);
  const gone$ = defer(() => {
    record.set({ ...actual, condition: "uncertain", inputs: [] });
    if (isBlock === true) {
      return tearDownBlock(ports, { ...deps.kinds, rootDir, turns: deps.turns }, { uid, plugin, name });
    }
    const own$ = ownTearDown(ports, deps.kinds, uid, actual, { rootDir });
    return own$ ?? tearDownVolume(ports, { path, isOwnDirectory, subPaths }, released$);
  });
  return concat(
    timed(gone$, isBlock === true ? "unmap_volume" : "volume_unmount", actual, ports),
    defer(() => {
      record.set(undefined);
      deps.sizes.drop(volumeKey(actual), uid);
      deps.budget.release(name);
      return EMPTY;
    }),
  ).pipe(
    catchError((thrown: unknown) => {
      const error = toKubeletError(thrown);
      const failure = { operation: "tearDown", error, inputs: [] } as const;
      record.set(withFailure(record.get() ?? actual, failure, ports.clock.monotonicMs()));
      ports.telemetry.log.warn("Cannot tear down a volume, retrying", { podUid: uid, volume: name, plugin, error });
      return EMPTY;
    }),
  );
}
