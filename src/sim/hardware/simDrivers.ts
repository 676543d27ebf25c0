/**
 * Drivers of Dynamic Resource Allocation in virtual time, as plugins that register. A driver works off its calls one after
 * another, also those whose caller has left, and remembers which claims are prepared until the machine boots. Owns that
 * state, which outlives the kubelet.
 */
import {
  combineLatest,
  defer,
  distinctUntilChanged,
  map,
  NEVER,
  type Observable,
  Subject,
  startWith,
  throwError,
} from "rxjs";
import { kubeletError } from "../../core/errors.ts";
import { sameValue } from "../../core/sameValue.ts";
import type { DraPlugin } from "../../core/dra/driverServices.ts";
import type { Claim, NodePrepareResourcesResponse, NodeUnprepareResourcesResponse } from "../../gen/dra.ts";
import { deadline } from "../../operators/deadline.ts";
import type { Clock } from "../../ports/clock.ts";
import type { DraDriver, DraDriverMap, DraDrivers } from "../../ports/draDrivers.ts";
import type { UntimedObservation } from "../simObservation.ts";
import {
  PLUGIN_LATENCY_MS,
  pluginFailure,
  type SimPluginFate,
  type SimPluginFaults,
  unlessDead,
} from "./pluginCall.ts";
import type { SimPluginProcess } from "./simPluginProcess.ts";

/** Names of the drivers of a simulated machine. */
export const SIM_DRIVERS = ["gpu.dra.example.com", "net.dra.example.com"] as const;

const CALL_MS = 45_000;

/** Returns the CDI name of the device of a claim. */
export const simClaimDevice = (driver: string, claimUid: string): string => `${driver}/claim=${claimUid}`;

export interface SimDriversOptions {
  readonly clock: Clock;
  readonly faults: SimPluginFaults;
  readonly bootId: () => string;
  readonly processAt: (socket: string) => SimPluginProcess | undefined;
  see(observation: UntimedObservation): void;
}

export interface SimDrivers {
  readonly port: DraDrivers;
  /** Claims that are prepared, as `driver name`, sorted. */
  prepared(): readonly string[];
  /** Notes that a process started or ended. */
  changed(process: SimPluginProcess): void;
}

/** A driver's memory. */
interface Memory {
  /** Names of the prepared claims by UID, with the boot in which they were prepared. */
  readonly prepared: Map<string, { readonly name: string; readonly bootId: string }>;
  /** End of the time that earlier calls take. */
  busyUntilMs: number;
}

/** A registered plugin. */
interface Followed {
  readonly plugin: DraPlugin;
  readonly isUp: boolean;
}

type Answer = NodePrepareResourcesResponse & NodeUnprepareResourcesResponse;

/** Creates the drivers. */
export function createSimDrivers({ clock, faults, bootId, processAt, see }: SimDriversOptions): SimDrivers {
  const changes$ = new Subject<void>();
  const memories = new Map<string, Memory>();
  const memoryOf = (name: string): Memory => {
    const known = memories.get(name) ?? { prepared: new Map(), busyUntilMs: 0 };
    memories.set(name, known);
    return known;
  };
  /** The effect of a call; it happens even if the caller has left. */
  const happen = (name: string, rpc: "prepare" | "unprepare", claims: readonly Claim[]): void => {
    const { prepared } = memoryOf(name);
    for (const { uid, name: claim } of claims) {
      if (rpc === "prepare") prepared.set(uid, { name: claim, bootId: bootId() });
      else prepared.delete(uid);
    }
    see({ kind: "driver", driver: name, rpc, what: "done", claims: claims.map(({ uid }) => uid) });
  };
  const call = (name: string, socket: string, rpc: "prepare" | "unprepare", claims: readonly Claim[]) =>
    defer((): Observable<Answer> => {
      const process = processAt(socket);
      see({ kind: "driver", driver: name, rpc, what: "asked", claims: claims.map(({ uid }) => uid) });
      if (process === undefined) return throwError(() => pluginFailure(`connect ECONNREFUSED ${socket}`));
      const fate = faults(rpc === "prepare" ? "NodePrepareResources" : "NodeUnprepareResources", name);
      const answered$ = inTurn(clock, memoryOf(name), process, fate, () => happen(name, rpc, claims));
      return answered$.pipe(
        map(() => (fate.kind === "lie" ? lyingAnswer(name, claims, fate.which) : answerTo(name, claims))),
        unlessDead(process.died$),
        deadline(CALL_MS, clock),
      );
    });
  const driverOf = ({ name, endpoint }: DraPlugin, isConnected: boolean): DraDriver => ({
    name,
    isConnected,
    prepare: (claims) => call(name, endpoint, "prepare", claims),
    unprepare: (claims) => call(name, endpoint, "unprepare", claims),
    health$: throwError(() => kubeletError("Unimplemented", "unknown service DRAResourceHealth")),
  });
  return {
    port: {
      follow: (plugins$) =>
        combineLatest([plugins$, changes$.pipe(startWith(undefined))]).pipe(
          map(([plugins]) => plugins.map((plugin) => ({ plugin, isUp: processAt(plugin.endpoint) !== undefined }))),
          distinctUntilChanged<readonly Followed[]>(sameValue),
          map((plugins): DraDriverMap => {
            const all = plugins.map(({ plugin, isUp }) => driverOf(plugin, isUp));
            return new Map([...all].sort(connectedLast).map((driver) => [driver.name, driver]));
          }),
        ),
    },
    prepared: () =>
      [...memories].flatMap(([driver, { prepared }]) =>
        [...prepared.values()].flatMap((it) => (it.bootId === bootId() ? [`${driver} ${it.name}`] : [])).sort(),
      ),
    changed(process) {
      if (process.type !== "DRAPlugin") return;
      if (!process.isUp) memoryOf(process.name).busyUntilMs = 0;
      changes$.next();
    },
  };
}

const connectedLast = (a: DraDriver, b: DraDriver): number => Number(a.isConnected) - Number(b.isConnected);

/** Emits once the driver has worked off the call, after all earlier ones. */
function inTurn(
  clock: Clock,
  memory: Memory,
  process: SimPluginProcess,
  fate: SimPluginFate,
  happen: () => void,
): Observable<undefined> {
  if (fate.kind === "hang") return NEVER;
  const now = clock.monotonicMs();
  const dueAt = Math.max(now, memory.busyUntilMs) + PLUGIN_LATENCY_MS + (fate.kind === "delay" ? fate.ms : 0);
  memory.busyUntilMs = dueAt;
  const { starts } = process;
  const done$ = new Subject<undefined>();
  clock.scheduler.schedule(() => {
    // A driver that ended forgets its calls.
    if (!process.isUp || process.starts !== starts) return;
    if (fate.kind !== "fail") happen();
    if (fate.kind === "fail" || fate.kind === "loseReply") done$.error(pluginFailure("the driver is ill"));
    else done$.next(undefined);
    done$.complete();
  }, dueAt - now);
  return done$;
}

const deviceOf = (driver: string, { uid, name }: Claim) => ({
  requestNames: [],
  poolName: "pool",
  deviceName: name,
  cdiDeviceIds: [simClaimDevice(driver, uid)],
  shareId: undefined,
});

const answerTo = (driver: string, claims: readonly Claim[]): Answer => ({
  claims: Object.fromEntries(claims.map((claim) => [claim.uid, { devices: [deviceOf(driver, claim)], error: "" }])),
});

/** Returns an answer that skips claims, names an unknown one, or reports an error although the claim was handled. */
function lyingAnswer(driver: string, claims: readonly Claim[], which: number): Answer {
  const [first] = claims;
  const unknown = first === undefined ? [] : [{ ...first, uid: "nobody" }];
  const lies: Answer[] = [
    { claims: {} },
    answerTo(driver, [...claims, ...unknown]),
    { claims: Object.fromEntries(claims.map(({ uid }) => [uid, { devices: [], error: "device is busy" }])) },
  ];
  return lies[which % lies.length] ?? { claims: {} };
}
